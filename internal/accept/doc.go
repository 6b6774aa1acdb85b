// Package accept takes one walk of the playbook from its beginning to its
// evidence: which run it is (new, resumed, from a gate on), the walk, cleaning
// up after it, and the report. It neither observes nor judges.
package accept
