"""`recall doctor`: looks at everything that Recall stands on, and says how to mend what is wrong."""
