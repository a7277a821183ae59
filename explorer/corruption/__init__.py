"""What pre-training hides: every strategy works on whole batches of rows, and one row of it is a `Corruption`."""
