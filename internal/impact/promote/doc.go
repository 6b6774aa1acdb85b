// Package promote decides whether a commit qualifies as a release candidate: whether
// the records of its scheduling test say that every recipe that the commit has was
// tested, as the commit has it, by the harness that the commit has, and passed. Checks
// on real hardware are another matter: they are listed, and those that are asked for
// have to be there. It is pure.
package promote
