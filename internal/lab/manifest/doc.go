// Package manifest holds the API objects that a lab creates in itself before
// anything else does: kwok's definitions (copies of the pinned module's), the
// roles of the lab's own programs, the way to prometheus-adapter, and the kinds of
// the Gateway API (copies of the pinned module's standard channel); and, in a folder each, what the extras of a lab need (copies of the pinned modules'
// definitions and chart files, and in objects.yaml what is the lab's).
//
// Everything is created, nothing altered: a lab's API server starts empty.
package manifest
