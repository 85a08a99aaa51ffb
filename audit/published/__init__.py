"""Numbers that papers print: what a published AUC, balanced accuracy or table implies about its privacy claim."""
