package sshconfig

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
)

// Host is how to log in to a host.
type Host struct {
	HostName string
	Port     string // a number from 1 to 65535; "22" by default
	// User is empty if neither the caller nor the file has one.
	User string
	// IdentityFiles may not exist. Empty: the file names none.
	IdentityFiles    []string
	CertificateFiles []string
	IdentitiesOnly   bool
	// Agent is the socket of ssh-agent; empty: the default one. NoAgent: none.
	Agent   string
	NoAgent bool
	// Jumps are the hosts of ProxyJump, first hop first.
	Jumps []Jump
	// KnownHostsFiles may not exist.
	KnownHostsFiles []string
	// HostKeyAlias is the name of the host in the known hosts; empty: HostName with Port.
	HostKeyAlias string
	// Network is tcp, tcp4 or tcp6.
	Network string
}

// unsupported options change the way to the host, or which keys are trusted or used. The values
// in none are harmless.
var unsupported = []struct {
	key    string
	none   []string
	remedy string
}{
	{"ProxyCommand", []string{"none"}, "use ProxyJump"},
	{"CanonicalizeHostname", []string{"no"}, "name hosts in full"},
	{"KnownHostsCommand", []string{"none"}, "use UserKnownHostsFile"},
	{"RevokedHostKeys", []string{"none"}, "use @revoked lines in the known hosts"},
	{"BindAddress", nil, "select the address by a route"},
	{"BindInterface", nil, "select the interface by a route"},
	{"PKCS11Provider", []string{"none"}, "add the token's keys to ssh-agent: ssh-add -s"},
	{"SecurityKeyProvider", []string{"none", "internal"}, "add the key to ssh-agent"},
	{"PubkeyAuthentication", []string{"yes", "unbound", "host-bound"}, "public keys are the only way to log in"},
}

// Host resolves the options for the name of a host, as ssh [-l user] [-p port] name does.
// All problems are in the error.
func (c *Config) Host(name, user, port string) (Host, error) {
	h := Host{User: user, Port: port}
	r := resolver{config: c, name: name}
	for _, u := range unsupported {
		if o, ok := r.first(u.key); ok && !slices.Contains(u.none, strings.ToLower(o.args[0])) {
			r.problem(o, "%s is not supported: %s", u.key, u.remedy)
		}
	}
	h.User = cmp.Or(h.User, r.text("User"))
	h.Port = cmp.Or(h.Port, r.text("Port"), "22")
	if n, err := strconv.ParseUint(h.Port, 10, 16); err != nil || n == 0 {
		o, _ := r.first("Port")
		r.problem(o, "invalid port %q: must be a number from 1 to 65535", h.Port)
	}
	r.tokens = map[byte]string{'h': name, 'n': name, 'p': h.Port, 'r': h.User}
	h.HostName = cmp.Or(r.expanded("HostName", false), name)
	r.tokens['h'] = h.HostName
	h.HostKeyAlias = r.expanded("HostKeyAlias", false)
	h.IdentityFiles = without(r.paths("IdentityFile"), "none")
	h.CertificateFiles = without(r.paths("CertificateFile"), "none")
	h.IdentitiesOnly = r.choice("IdentitiesOnly", "no", "no", "yes") == "yes"
	h.Network = map[string]string{"any": "tcp", "inet": "tcp4", "inet6": "tcp6"}[r.choice("AddressFamily", "any", "any", "inet", "inet6")]
	r.agent(&h)
	h.Jumps = r.jumps()
	h.KnownHostsFiles = without(append(
		r.files("UserKnownHostsFile", "~/.ssh/known_hosts", "~/.ssh/known_hosts2"),
		r.files("GlobalKnownHostsFile", "/etc/ssh/ssh_known_hosts", "/etc/ssh/ssh_known_hosts2")...), "none")
	return h, errors.Join(r.problems...)
}

// agent reads IdentityAgent: none, SSH_AUTH_SOCK, a variable or a path.
func (r *resolver) agent(h *Host) {
	o, ok := r.first("IdentityAgent")
	switch {
	case !ok || o.args[0] == "SSH_AUTH_SOCK":
	case o.args[0] == "none":
		h.NoAgent = true
	case strings.HasPrefix(o.args[0], "$") && !strings.HasPrefix(o.args[0], "${"):
		h.Agent = os.Getenv(o.args[0][1:])
		h.NoAgent = h.Agent == ""
	default:
		h.Agent = r.expand(o, o.args[0], true)
	}
}

// resolver resolves the options of one host and collects the problems.
type resolver struct {
	config   *Config
	name     string
	tokens   map[byte]string
	problems []error
}

func (r *resolver) problem(o option, format string, args ...any) {
	r.problems = append(r.problems, fmt.Errorf("%s: "+format, append([]any{o.place()}, args...)...))
}

// all are the lines of an option for the host.
func (r *resolver) all(key string) []option {
	key = strings.ToLower(key)
	var out []option
	for _, o := range r.config.options {
		if o.key == key && !slices.ContainsFunc(o.within, func(p []pattern) bool { return !matches(p, r.name) }) {
			out = append(out, o)
		}
	}
	return out
}

func (r *resolver) first(key string) (option, bool) {
	if all := r.all(key); len(all) > 0 {
		return all[0], true
	}
	return option{}, false
}

// text is the single argument of an option, or empty.
func (r *resolver) text(key string) string {
	o, ok := r.first(key)
	if !ok {
		return ""
	}
	if len(o.args) > 1 {
		r.problem(o, "%s has %d arguments, want one", key, len(o.args))
	}
	return o.args[0]
}

// choice is the argument of an option that has fixed ones.
func (r *resolver) choice(key, usual string, values ...string) string {
	value := cmp.Or(strings.ToLower(r.text(key)), usual)
	if !slices.Contains(values, value) {
		o, _ := r.first(key)
		r.problem(o, "invalid %s %q: want one of %s", key, value, strings.Join(values, ", "))
		return usual
	}
	return value
}

func (r *resolver) expanded(key string, path bool) string {
	o, ok := r.first(key)
	if !ok {
		return ""
	}
	return r.expand(o, r.text(key), path)
}

// paths are the paths of all lines of an option.
func (r *resolver) paths(key string) []string {
	var out []string
	for _, o := range r.all(key) {
		for _, arg := range o.args {
			out = append(out, r.expand(o, arg, true))
		}
	}
	return out
}

// files are the paths of the first line of an option, or the usual ones.
func (r *resolver) files(key string, usual ...string) []string {
	o, ok := r.first(key)
	if ok {
		usual = o.args
	}
	var out []string
	for _, arg := range usual {
		out = append(out, r.expand(o, arg, true))
	}
	return out
}

func without(list []string, value string) []string {
	return slices.DeleteFunc(list, func(s string) bool { return s == value })
}
