// Package origin makes the HTTP clients that may carry credentials, or that reach what
// is not to be trusted with an address.
//
// Invariants: a client sends requests to the one origin (scheme, host and port) that it
// was made for; a redirect out of its base address is an error and not a request;
// credentials go over TLS unless the caller was told otherwise by name.
package origin
