/* Stands in for a libc of the future when newer_symbol is linked. */
int from_the_future(void);
int from_the_future(void) { return 1; }
