"""The golden runs: authored stories, the records and transcripts of their recording, and the results they must give."""
