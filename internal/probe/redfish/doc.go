// Package redfish reads power from a Redfish service through gofish: which rack
// PDUs are energised, what chassis draw. It changes nothing there.
package redfish
