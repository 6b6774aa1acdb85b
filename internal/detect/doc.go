// Package detect writes a site file from what a cluster shows, for a person to confirm.
//
// Read reads objects of the cluster and changes nothing. File is a pure function of what was
// read: each value has a comment that says where it was seen or that it is a default, and what
// could not be seen is a comment TODO, which site.Load refuses with its line.
package detect
