// Package hook is the contract by which the cloud's part of a reservation is done:
// what stands clusters up and tears them down is a program or a Kubernetes Job of the
// team's own, the hook of its cloud.
//
// There are five verbs: provision, teardown, census, discover, test. A hook reads one
// Request as JSON and answers one Response as JSON; an executable on its standard
// streams, a Job by a mounted file and its termination message, or the last line of
// its log. Exit status 0 means done, 75 (EX_TEMPFAIL) that it may go better later,
// anything else that it failed. docs/hooks.md is the page for people who write one.
//
// Invariants:
//   - No attempt with a side effect is begun unless the lease's token was checked
//     just before. A stale token ends the call, whatever attempts are left.
//   - An exit status is never believed: provision has to answer with the deployment
//     that was asked for, and what was torn down has to be missing from what
//     discover finds afterwards. A test passes by what it says that it saw: at least
//     one check.
//   - Every attempt has a limit. A program is ended with all that it started
//     (SIGTERM, then SIGKILL), a Job is deleted with its pods.
//   - What a hook says is read strictly and bounded in size. It has no place for a
//     credential: how a person gets one is told as an exec plugin.
//
// A program gets a restricted environment: PATH, HOME, LANG, TMPDIR, and the variables
// that the configuration names. The values of those that it names as secrets are cut
// out of everything that is logged.
package hook
