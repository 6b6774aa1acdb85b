// Package summarize decides what a workflow's one required check says: whether all
// that a plan asks for was tested and passed. Jobs that were skipped or cancelled leave
// nothing behind, so it goes by what has to be there, not by what is. It is pure.
package summarize
