// Package gate puts the eight gates together as the playbook of a site.
package gate
