// Package class groups recipes that are the same to the scheduler, says what tells
// two of them apart, and holds the members of a class to one verdict.
//
// A class is what a fingerprint has: where one member was tested, the others would
// get the same answers. Whether that is so is audited whenever all are tested.
package class
