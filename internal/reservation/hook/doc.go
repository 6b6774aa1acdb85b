// Package hook is the contract between firstlight and a cloud: the hook of a cloud is a program or
// a Kubernetes Job of the team that creates and deletes its clusters.
//
// The verbs are provision, teardown, nodes, discover and test. A hook reads one Request as JSON
// and writes one Response as JSON: a program on its standard streams, a Job from a mounted file
// and to its termination message or the last line of its log. Exit status 0 means success, 75
// (EX_TEMPFAIL) a temporary failure, everything else a failure. docs/hooks.md describes the
// contract for authors of hooks.
//
// Invariants:
//   - Before each attempt with side effects the token of the lease is checked. A stale token
//     ends the call, whatever attempts are left.
//   - An exit status is not sufficient: provision must return the requested deployment, and
//     a deleted deployment must be absent from discover. A passed test has at least one check.
//   - Every attempt has a timeout. A program is ended with its whole process tree (SIGTERM,
//     then SIGKILL), a Job is deleted with its pods.
//   - A response is decoded strictly and bounded in size. It has no field for a credential:
//     access is an exec plugin.
//   - A deployment is ready after several consecutive checks with the same nodes (by UID), all
//     Ready, none cordoned, with the expected GPUs. Any regression restarts the count.
//
// A program gets a restricted environment: PATH, HOME, LANG, TMPDIR, and the variables in the
// configuration. The values of secrets are redacted in everything that is logged.
package hook
