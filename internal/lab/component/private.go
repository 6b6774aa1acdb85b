package component

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/firstlight/firstlight/internal/lab/pki"
)

const (
	// inflight requests of an API server whose clients do not compete with those of others.
	inflight = 2_000
	// gcPercent trades memory for CPU: it avoids three quarters of the garbage collections.
	gcPercent = 400
)

// collectLess sets GOGC for less garbage collection.
func collectLess(env []string) []string {
	return append(slices.Clone(env), "GOGC="+strconv.Itoa(gcPercent))
}

// hostMemory returns the soft limit of memory, of a base in MiB and a part in KiB for each host, of a program
// that keeps the objects of every host: with GOGC alone, it grows to five times of what it keeps. Near the
// limit it collects more often.
func (c Config) hostMemory(base, perHost int) []string {
	if c.Hosts == 0 {
		return nil
	}
	return []string{"GOMEMLIMIT=" + strconv.Itoa(base+perHost*c.Hosts/1024) + "MiB"}
}

// tokenUser is a user that authenticates with a token.
type tokenUser struct{ name, group string }

// tokenUsers has the identities with a token by purpose. Verifying client certificates at every
// request takes a tenth of the API server's time.
var tokenUsers = map[Purpose]map[string]tokenUser{
	Scheduling: {
		pki.Admin: {name: "firstlight:admin"}, pki.ControllerManager: {name: "system:kube-controller-manager"},
		pki.Scheduler: {name: "system:kube-scheduler"},
	},
	Store: {pki.Admin: {name: "firstlight:admin", group: "system:masters"}},
}

// TokenUsers returns the sorted identities that need a token.
func (p Purpose) TokenUsers() []string { return slices.Sorted(maps.Keys(tokenUsers[p])) }

// tokenFile returns the lines TOKEN,USER,UID[,GROUP] for the API server.
func (c Config) tokenFile() string {
	var lines strings.Builder
	for _, identity := range c.Purpose.TokenUsers() {
		u := tokenUsers[c.Purpose][identity]
		line := []string{c.Tokens[identity], u.name, identity}
		if u.group != "" {
			line = append(line, u.group)
		}
		lines.WriteString(strings.Join(line, ",") + "\n")
	}
	return lines.String()
}

// privateAPIServer is the API server of a lab for scheduling or of a store: one user has all its
// clients, which have tokens and need no fair queues. It is ready when Roles exist.
func (c Config) privateAPIServer() Component {
	s := c.APIServer()
	tokens := c.Conf("tokens.csv")
	s.Files = map[string]string{tokens: c.tokenFile()}
	s.Argv = with(s.Argv,
		"--token-auth-file="+tokens,
		"--enable-priority-and-fairness=false",
		"--max-requests-inflight="+strconv.Itoa(inflight),
		"--max-mutating-requests-inflight="+strconv.Itoa(inflight),
		"--profiling="+strconv.FormatBool(c.Profiling),
	)
	s.Probe = c.RolesProbe()
	return s
}
