"""The orchestration: observe, decide, act. It knows ports and values only, no screen and no library."""
