package hook

import (
	"encoding/pem"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// names of deployments: the strictest cloud allows 32 characters.
var names = regexp.MustCompile(`^[a-z]([a-z0-9-]{0,30}[a-z0-9])?$`)

// owners are also label values in clouds.
var owners = regexp.MustCompile(`^[a-z]([a-z0-9-]{0,30}[a-z0-9])?$`)

// CheckName validates the name of a deployment.
func CheckName(name string) error {
	if !names.MatchString(name) {
		return fmt.Errorf("invalid deployment name %q: must have lower-case letters, digits and dashes, start with a letter, at most 32 characters", name)
	}
	return nil
}

// problems collects errors.
type problems []error

func (p *problems) add(bad bool, format string, args ...any) {
	if bad {
		*p = append(*p, fmt.Errorf(format, args...))
	}
}

func (r Request) validate() error {
	var p problems
	p.add(r.APIVersion != APIVersion, "unsupported apiVersion %q: must be %s", r.APIVersion, APIVersion)
	p.add(!slices.Contains(Verbs(), r.Verb), "unknown verb %q", r.Verb)
	p.add(!owners.MatchString(r.Owner), "invalid owner %q: must have lower-case letters, digits and dashes, at most 32", r.Owner)
	p.add(r.Cloud == "", "cloud is missing")
	p.add(r.Deadline.IsZero(), "deadline is missing")
	p.add(r.Attempt < 1, "invalid attempt %d: must be at least 1", r.Attempt)
	p.add(r.Lease.Token < 0, "invalid token: must not be negative")
	if r.Verb != Discover {
		p.add(r.Reservation == nil, "%s needs a reservation", r.Verb)
		if err := CheckName(r.Deployment); err != nil {
			p = append(p, err)
		}
	}
	if r.Reservation != nil {
		p.add(r.Reservation.Name == "", "reservation.name is missing")
		p.add(r.Reservation.Cloud != r.Cloud, "the reservation belongs to %q, the request to %q", r.Reservation.Cloud, r.Cloud)
	}
	p.add(r.Verb == Provision && r.Intent == "", "provision needs an intent")
	p.add(r.Verb == Test && r.Intent == "", "test needs an intent")
	if err := CheckVersion(r.Version); err != nil && r.Verb == Test {
		p = append(p, fmt.Errorf("test needs a version: %w", err))
	}
	p.add(r.Verb != Test && r.Version != "", "%s must not have a version: %.40q", r.Verb, r.Version)
	p.add(r.Verb.hasSideEffects() && r.Lease.Token == 0, "%s needs the token of a lease", r.Verb)
	return errors.Join(p...)
}

func (r Response) validate(to Request) error {
	var p problems
	p.add(r.APIVersion != APIVersion, "unsupported apiVersion %q: must be %s", r.APIVersion, APIVersion)
	if r.Error != "" {
		return errors.Join(p...)
	}
	for _, f := range []struct {
		verb  Verb
		key   string
		there bool
	}{
		{Provision, "deployment", r.Deployment != nil}, {Teardown, "deleted", r.Deleted},
		{GetNodes, "nodes", r.Nodes != nil}, {Discover, "deployments", r.Deployments != nil},
		{Test, "result", r.Result != nil},
	} {
		p.add(f.verb == to.Verb && !f.there, "the response to %s must have %q", f.verb, f.key)
		p.add(f.verb != to.Verb && f.there, "%q is not a response to %s", f.key, to.Verb)
	}
	if d := r.Deployment; d != nil {
		p.provisioned(*d, to)
	}
	if r.Nodes != nil {
		p.nodes(*r.Nodes)
	}
	if r.Deployments != nil {
		p.discovered(*r.Deployments, to)
	}
	if r.Result != nil {
		p.result(*r.Result)
	}
	return errors.Join(p...)
}

// provisioned compares the deployment with the request.
func (p *problems) provisioned(d Deployment, to Request) {
	p.deployment(d)
	p.add(d.Name != to.Deployment, "the response has deployment %q, the request %q", d.Name, to.Deployment)
	p.add(d.Owner != to.Owner, "deployment %s has owner label %q, want %q", d.Name, d.Owner, to.Owner)
	p.add(to.Reservation != nil && d.Reservation != to.Reservation.Name, "deployment %s has reservation label %q", d.Name, d.Reservation)
	p.add(d.Intent != to.Intent, "deployment %s has intent %q, want %q", d.Name, d.Intent, to.Intent)
	p.add(d.Token != to.Lease.Token, "deployment %s has token label %d, want %d", d.Name, d.Token, to.Lease.Token)
	p.add(d.Created.IsZero(), "deployment %s has no label of its creation time", d.Name)
	p.add(d.Access == nil, "deployment %s: access is missing", d.Name)
}

func (p *problems) discovered(all []Deployment, to Request) {
	seen := map[string]bool{}
	for _, d := range all {
		p.deployment(d)
		p.add(seen[d.Name], "duplicate deployment %q", d.Name)
		p.add(to.Reservation != nil && d.Reservation != to.Reservation.Name, "deployment %s belongs to %q, not to %s", d.Name, d.Reservation, nameOf(to))
		seen[d.Name] = true
	}
}

func nameOf(r Request) string {
	if r.Reservation == nil {
		return string(r.Cloud)
	}
	return r.Reservation.Name
}

func (p *problems) deployment(d Deployment) {
	p.add(strings.TrimSpace(d.Name) == "" || len(d.Name) > 253, "invalid name of a deployment %.40q: must have 1 to 253 characters", d.Name)
	p.add(d.Token < 0, "deployment %s: the token is negative", d.Name)
	if d.Access != nil {
		if err := d.Access.validate(); err != nil {
			*p = append(*p, fmt.Errorf("deployment %s: access: %w", d.Name, err))
		}
	}
}

func (p *problems) nodes(all []Node) {
	uids, seen := map[string]bool{}, map[string]bool{}
	for i, n := range all {
		p.add(n.Name == "" || n.UID == "", "node %d: name or uid is missing", i+1)
		p.add(n.Name != "" && seen[n.Name], "duplicate node %q", n.Name)
		p.add(n.UID != "" && uids[n.UID], "duplicate uid %q", n.UID)
		p.add(n.GPUs < 0, "invalid node %s: it has %d GPUs", n.Name, n.GPUs)
		seen[n.Name], uids[n.UID] = true, true
	}
}

var errSecret = errors.New("must contain certificates only, no private key")

func (a Access) validate() error {
	var p problems
	u, err := url.Parse(a.Server)
	p.add(err != nil || u.Scheme != "https" || u.Host == "" || u.User != nil, "invalid server %q: must be an https URL", a.Server)
	p.add(a.Exec.Command == "", "exec.command is missing")
	rest := []byte(a.CA)
	for len(strings.TrimSpace(string(rest))) > 0 {
		block, more := pem.Decode(rest)
		if block == nil || block.Type != "CERTIFICATE" {
			p = append(p, fmt.Errorf("ca: %w", errSecret))
			break
		}
		rest = more
	}
	return errors.Join(p...)
}
