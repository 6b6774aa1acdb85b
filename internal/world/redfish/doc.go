// Package redfish simulates the management controller of the racks: HTTPS on loopback with its own
// CA, a generated password, and the Redfish resources for power and temperatures of chassis and
// the state of rack PDUs.
//
// Every response is computed from the world's current State. Only sessions can be created.
package redfish
