"""The golden runs: authored sample data, the records and transcripts made from it, and the results it must give."""
