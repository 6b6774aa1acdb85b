package sshconfig

import (
	"fmt"
	"net"
	"strings"
)

// Jump is one host of ProxyJump. User and Port are empty if the line has none.
type Jump struct {
	User, Host, Port string
}

func (j Jump) String() string {
	out := j.Host
	if j.Port != "" {
		out = net.JoinHostPort(j.Host, j.Port)
	}
	if j.User != "" {
		out = j.User + "@" + out
	}
	return out
}

func (r *resolver) jumps() []Jump {
	o, ok := r.first("ProxyJump")
	if !ok || strings.EqualFold(o.args[0], "none") {
		return nil
	}
	var out []Jump
	for text := range strings.SplitSeq(r.text("ProxyJump"), ",") {
		j, err := parseJump(text)
		if err != nil {
			r.problem(o, "%w", err)
			continue
		}
		out = append(out, j)
	}
	return out
}

// parseJump reads [user@]host[:port] or ssh://[user@]host[:port].
func parseJump(text string) (Jump, error) {
	invalid := func() (Jump, error) {
		return Jump{}, fmt.Errorf("invalid ProxyJump %q: must be USER@HOST:PORT, or several with commas", text)
	}
	rest := strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(text), "ssh://"), "/")
	var j Jump
	if i := strings.LastIndex(rest, "@"); i >= 0 {
		j.User, rest = rest[:i], rest[i+1:]
		if j.User == "" {
			return invalid()
		}
	}
	j.Host = rest
	if host, port, err := net.SplitHostPort(rest); err == nil {
		j.Host, j.Port = host, port
		if port == "" {
			return invalid()
		}
	}
	j.Host = strings.TrimSuffix(strings.TrimPrefix(j.Host, "["), "]")
	if j.Host == "" || strings.ContainsAny(j.Host, "@/ %") {
		return invalid()
	}
	return j, nil
}
