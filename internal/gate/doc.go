// Package gate combines the eight gates into the playbook of a site.
package gate
