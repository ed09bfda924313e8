"""What Recall costs, each time against a baseline measured in the same minute on the same machine."""
