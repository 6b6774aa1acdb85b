// Package floors is the file that says from which release on an intent is run on
// a lane (a cloud): what is tested comes from the main branch, and a release older
// than its floor can't pass it, which would say nothing of the release.
//
// It fails closed. What can't be compared, an unknown lane, a version that is no
// stable release, a floor that is none, is an error and never a permission; the
// invariants are held by Validate for every value, also one built in Go. The main
// branch has no floor. Nothing here does I/O but Load, and nothing asks a
// repository: which releases there are, the caller says.
package config
