// Package origin creates HTTP clients that send credentials, or that connect to servers that
// must not choose the address of the next request.
//
// A client sends requests to one origin (scheme, host and port) only. A redirect out of its
// base address is an error. Credentials are sent over TLS unless the site permits plain HTTP.
package origin
