"""What is measured once and shown as a record; recipes and cards of the shipped models."""
