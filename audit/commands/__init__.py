"""The commands of the dpassay command line, one file each."""
