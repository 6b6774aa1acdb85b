// Package reservation uses the built program to share reservations as its users do:
// one store of the program's own, and labs that hooks stand up.
package reservation
