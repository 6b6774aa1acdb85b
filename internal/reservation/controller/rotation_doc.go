// Package rotation stands deployments up for people by day and takes them down in
// the evening, and cleans what a lease has left behind. It does so by the hooks of each
// cloud, always in the name of a lease that it renews while it works: where the
// lease is lost, the work is ended.
//
// What it finds counts, not what it remembers: before something is stood up, nothing
// may stand; after something was taken down, nothing may.
package controller
