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

// names of deployments: the shortest that a cloud takes is 32 characters long.
var names = regexp.MustCompile(`^[a-z]([a-z0-9-]{0,30}[a-z0-9])?$`)

// owners are also values of the clouds' labels.
var owners = regexp.MustCompile(`^[a-z]([a-z0-9-]{0,30}[a-z0-9])?$`)

// CheckName says whether a deployment may be called that.
func CheckName(name string) error {
	if !names.MatchString(name) {
		return fmt.Errorf("deployment name %q: want lower-case letters, digits and dashes, a letter first, at most 32", name)
	}
	return nil
}

// problems collects what is wrong.
type problems []error

func (p *problems) add(bad bool, format string, args ...any) {
	if bad {
		*p = append(*p, fmt.Errorf(format, args...))
	}
}

func (r Request) validate() error {
	var p problems
	p.add(r.APIVersion != APIVersion, "apiVersion is %q, this is %s", r.APIVersion, APIVersion)
	p.add(!slices.Contains(Verbs(), r.Verb), "verb %q is unknown", r.Verb)
	p.add(!owners.MatchString(r.Owner), "owner %q: want lower-case letters, digits and dashes, at most 32", r.Owner)
	p.add(r.Cloud == "", "cloud is empty")
	p.add(r.Deadline.IsZero(), "deadline is missing")
	p.add(r.Attempt < 1, "attempt is %d, it counts from 1", r.Attempt)
	p.add(r.Lease.Token < 0, "the token is below 0")
	if r.Verb != Discover {
		p.add(r.Reservation == nil, "%s is of a reservation: it is missing", r.Verb)
		if err := CheckName(r.Deployment); err != nil {
			p = append(p, err)
		}
	}
	if r.Reservation != nil {
		p.add(r.Reservation.Name == "", "reservation.name is empty")
		p.add(r.Reservation.Cloud != r.Cloud, "the reservation is of %q, the request of %q", r.Reservation.Cloud, r.Cloud)
	}
	p.add(r.Verb == Provision && r.Intent == "", "provision is for an intent: it is missing")
	p.add(r.Verb == Test && r.Intent == "", "test is of an intent: it is missing")
	if err := CheckVersion(r.Version); err != nil && r.Verb == Test {
		p = append(p, fmt.Errorf("test is of a version: %w", err))
	}
	p.add(r.Verb != Test && r.Version != "", "%s is of no version, and %.40q is one", r.Verb, r.Version)
	p.add(r.Verb.hasSideEffects() && r.Lease.Token == 0, "%s needs the token of a lease", r.Verb)
	return errors.Join(p...)
}

func (r Response) validate(to Request) error {
	var p problems
	p.add(r.APIVersion != APIVersion, "apiVersion is %q, this is %s", r.APIVersion, APIVersion)
	if r.Error != "" {
		return errors.Join(p...)
	}
	for _, f := range []struct {
		verb  Verb
		key   string
		there bool
	}{
		{Provision, "deployment", r.Deployment != nil}, {Teardown, "gone", r.Deleted},
		{GetNodes, "nodes", r.Nodes != nil}, {Discover, "deployments", r.Deployments != nil},
		{Test, "result", r.Result != nil},
	} {
		p.add(f.verb == to.Verb && !f.there, "%s is answered by %q: it is missing", f.verb, f.key)
		p.add(f.verb != to.Verb && f.there, "%q does not answer %s", f.key, to.Verb)
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

// provisioned holds what was stood up against what was asked for.
func (p *problems) provisioned(d Deployment, to Request) {
	p.deployment(d)
	p.add(d.Name != to.Deployment, "deployment %q was answered, %q was asked for", d.Name, to.Deployment)
	p.add(d.Owner != to.Owner, "deployment %s is labelled with the owner %q, not %q", d.Name, d.Owner, to.Owner)
	p.add(to.Reservation != nil && d.Reservation != to.Reservation.Name, "deployment %s is labelled with the reservation %q", d.Name, d.Reservation)
	p.add(d.Intent != to.Intent, "deployment %s is of the intent %q, %q was asked for", d.Name, d.Intent, to.Intent)
	p.add(d.Token != to.Lease.Token, "deployment %s is labelled with token %d, not %d", d.Name, d.Token, to.Lease.Token)
	p.add(d.Created.IsZero(), "deployment %s is not labelled with when it was created", d.Name)
	p.add(d.Access == nil, "deployment %s: access is missing", d.Name)
}

func (p *problems) discovered(all []Deployment, to Request) {
	seen := map[string]bool{}
	for _, d := range all {
		p.deployment(d)
		p.add(seen[d.Name], "deployment %q is there twice", d.Name)
		p.add(to.Reservation != nil && d.Reservation != to.Reservation.Name, "deployment %s is of %q, not of %s", d.Name, d.Reservation, nameOf(to))
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
	p.add(strings.TrimSpace(d.Name) == "" || len(d.Name) > 253, "a deployment without a name, or with one that is too long: %.40q", d.Name)
	p.add(d.Token < 0, "deployment %s: the token is below 0", d.Name)
	if d.Access != nil {
		if err := d.Access.validate(); err != nil {
			*p = append(*p, fmt.Errorf("deployment %s: access: %w", d.Name, err))
		}
	}
}

func (p *problems) nodes(all []Node) {
	uids, seen := map[string]bool{}, map[string]bool{}
	for i, n := range all {
		p.add(n.Name == "" || n.UID == "", "node %d: want a name and a uid", i+1)
		p.add(n.Name != "" && seen[n.Name], "node %q is there twice", n.Name)
		p.add(n.UID != "" && uids[n.UID], "two nodes have the uid %q", n.UID)
		p.add(n.GPUs < 0, "node %s has %d GPUs", n.Name, n.GPUs)
		seen[n.Name], uids[n.UID] = true, true
	}
}

// errSecret refuses what must not be told.
var errSecret = errors.New("a private key, or something else that is no certificate, has no place in it")

func (a Access) validate() error {
	var p problems
	u, err := url.Parse(a.Server)
	p.add(err != nil || u.Scheme != "https" || u.Host == "" || u.User != nil, "server %q: want an https URL", a.Server)
	p.add(a.Exec.Command == "", "exec.command is empty")
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
