// Package redfish reads power state from a Redfish service through gofish: the state of rack
// PDUs and the power draw of chassis. It changes nothing in the service.
package redfish
