// Package docs compares the documentation with the code. Its tests fail if a link has no target, a gate
// has no page, a page or a help text shows a command line that the program refuses, a page states
// another figure than the profile, a table has no header, a worked example names a file, a name or
// code that is not in the tree, a page shows a part of a site file that is invalid, or an output that
// the program does not print.
package docs
