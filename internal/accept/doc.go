// Package accept runs a playbook: it selects the run (new, resumed, or from a gate on),
// executes its plan, cleans up and reports. It neither observes nor judges.
package accept
