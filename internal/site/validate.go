package site

import (
	"fmt"
	"maps"
	"net"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/firstlight/firstlight/internal/profile"
)

// Gates are the gates of the playbook, in order, by the names that site files,
// flags, journals and reports use.
func Gates() []string {
	return []string{"facility", "fabric", "node", "gpustack", "telemetry", "collective", "training", "inference"}
}

var (
	// spines that this version supports.
	spines       = []string{SpineKubernetes, SpineK3s, SpineSlurm, SpineRay, SpineSingleNode}
	dnsLabel     = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$`)
	nodeName     = regexp.MustCompile(`^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$`)
	byteSize     = regexp.MustCompile(`^[1-9][0-9]*[KMG]?$`)
	resourceName = regexp.MustCompile(`^[a-z0-9.-]+/[A-Za-z0-9_.-]+$`)
)

type validator struct {
	root *yaml.Node
	// profile, when set, is the site's; otherwise it is loaded by its name.
	profile *profile.Profile
	// groupProfiles are those of groups by name, if they are given; others are loaded.
	groupProfiles map[string]*profile.Profile
	problems      []Problem
}

func (v *validator) add(path, format string, args ...any) {
	v.problems = append(v.problems, Problem{
		Line:    lineOf(v.root, path),
		Message: path + ": " + fmt.Sprintf(format, args...),
	})
}

func (v *validator) require(path, value, example string) {
	if strings.TrimSpace(value) == "" {
		v.add(path, "is missing; for example %s", example)
	}
}

func (v *validator) oneOf(path, value string, allowed []string) {
	if !slices.Contains(allowed, value) {
		v.add(path, "%q is not one of %s", value, strings.Join(allowed, ", "))
	}
}

// withoutThoseAt drops problems at lines that the decoder has already complained of.
func (v *validator) withoutThoseAt(known []Problem) []Problem {
	lines := map[int]bool{}
	for _, k := range known {
		lines[k.Line] = true
	}
	var out []Problem
	for _, p := range v.problems {
		if p.Line == 0 || !lines[p.Line] {
			out = append(out, p)
		}
	}
	return out
}

func (v *validator) site(s *Site) {
	if s.APIVersion != "firstlight/v1" {
		v.add("apiVersion", "%q is unknown: must be firstlight/v1", s.APIVersion)
	}
	if s.Kind != "Site" {
		v.add("kind", "%q is not Site", s.Kind)
	}
	if !dnsLabel.MatchString(s.Name) {
		v.add("name", "%q: use lower-case letters, digits and dashes, 63 at most", s.Name)
	}
	v.oneOf("spine", s.Spine, spines)
	p := v.profile
	if p == nil {
		var err error
		if p, err = profile.Load(s.Profile); err != nil {
			v.add("profile", "%s", err)
		}
	}
	switch {
	case s.SingleNode():
		v.singleNode(s, p)
	case s.OnSlurm():
		v.onSlurm(s, p)
	default:
		v.cluster(s, p)
	}
	for gate, reason := range s.NotApplicable {
		path := "notApplicable." + gate
		v.oneOf(path, gate, Gates())
		v.require(path, reason, "a reason that a reader of the report understands")
	}
}

// cluster validates what the site of a cluster has.
func (v *validator) cluster(s *Site, p *profile.Profile) {
	if s.Slurm != nil {
		v.add("slurm", "has no effect with spine %s: remove it", s.Spine)
	}
	v.ray(s)
	v.facility(&s.Facility)
	v.inventory(&s.Inventory)
	v.groups(s, p)
	v.reach(s)
	v.fabric(s, p)
	v.nvlink(s, p)
	v.gpustack(&s.GPUStack)
	gpus := 0
	if p != nil {
		gpus = int(p.Node.GPUs.Value)
	}
	v.mig(s.GPUStack.MIG, gpus)
	v.telemetry(&s.Telemetry)
	v.workloads(s, p)
	v.images(&s.Images)
	v.pods(s)
	v.autoscale(s, p)
	v.prepare(s)
}

// ParseTime reads a date or an RFC 3339 time; a date means its midnight, UTC.
func ParseTime(s string) (time.Time, error) {
	if t, err := time.Parse(time.DateOnly, s); err == nil {
		return t, nil
	}
	t, err := time.Parse(time.RFC3339, s)
	if err != nil {
		return time.Time{}, fmt.Errorf("invalid date %q: must be 2026-11-01 or 2026-11-01T09:00:00Z", s)
	}
	return t, nil
}

// facility: a missing sign-off is for gate 1 to judge; a malformed one is an error.
func (v *validator) facility(f *Facility) {
	var at, expires time.Time
	var err error
	if f.SignOff.At != "" {
		if at, err = ParseTime(f.SignOff.At); err != nil {
			v.add("facility.signOff.at", "%s", err)
		}
	}
	if f.SignOff.Expires != "" {
		if expires, err = ParseTime(f.SignOff.Expires); err != nil {
			v.add("facility.signOff.expires", "%s", err)
		}
	}
	if !at.IsZero() && !expires.IsZero() && !expires.After(at) {
		v.add("facility.signOff.expires", "%s is not after the signature of %s", f.SignOff.Expires, f.SignOff.At)
	}
	v.budget("facility.power", f.Power, "kW")
	v.budget("facility.cooling", f.Cooling, "kW")
	v.budget("facility.weight", f.Weight, "kg")
	controllers := map[string]string{}
	for i, r := range f.Redfish {
		path := fmt.Sprintf("facility.redfish.%d", i)
		v.require(path+".name", r.Name, "pdu-a")
		v.once(controllers, path+".name", r.Name)
		v.unique(path+".pdus", r.PDUs)
		v.unique(path+".chassis", r.Chassis)
		v.url(path+".url", r.URL)
		v.inClear(path, r.URL, r.User != "" || r.PasswordFile != "", r.PlainHTTP)
		v.unusedTLS(path, r.URL, map[string]string{"caFile": r.CAFile})
		if (r.User == "") != (r.PasswordFile == "") {
			v.add(path, "user and passwordFile must be set together")
		}
		if len(r.PDUs) == 0 && len(r.Chassis) == 0 {
			v.add(path, "names neither pdus nor chassis, so nothing would be read from it")
		}
	}
}

func (v *validator) budget(path string, b Budget, unit string) {
	if b.Provided.Value <= 0 {
		v.add(path+".provided", "is missing or zero; for example \"100 %s\"", unit)
		return
	}
	if b.Provided.Unit != unit {
		v.add(path+".provided", "%s is the wrong unit: this budget is in %s", b.Provided, unit)
	}
	if b.Reserve < 0 || b.Reserve >= 1 {
		v.add(path+".reserve", "invalid fraction %v: must be at least 0 and below 1, such as 0.1 for 10 %%", b.Reserve)
	}
}

func (v *validator) url(path, value string) {
	u, err := url.Parse(value)
	if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
		v.add(path, "invalid URL %q: must be http or https", value)
		return
	}
	if u.User != nil {
		v.add(path, "holds a user or password: use the user and passwordFile keys, a site file carries no secrets")
	}
}

// inClear refuses credentials over an unencrypted connection.
func (v *validator) inClear(path, value string, credentials, plainHTTP bool) {
	u, err := url.Parse(value)
	if err != nil {
		return
	}
	plain := strings.EqualFold(u.Scheme, "http")
	if plain && credentials && !plainHTTP {
		v.add(path, "sends credentials over plain http: use an https url, or set plainHTTP: true")
	}
	if !plain && plainHTTP {
		v.add(path+".plainHTTP", "has no effect on an https url: remove it")
	}
}

// unusedTLS refuses files that are used only over https, by key.
func (v *validator) unusedTLS(path, value string, files map[string]string) {
	u, err := url.Parse(value)
	if err != nil || !strings.EqualFold(u.Scheme, "http") {
		return
	}
	for _, key := range slices.Sorted(maps.Keys(files)) {
		if files[key] != "" {
			v.add(path+"."+key, "has no effect over plain http: use an https url, or remove it")
		}
	}
}

func (v *validator) inventory(inv *Inventory) {
	if len(inv.Nodes) == 0 {
		v.add("inventory.nodes", "is empty: a cluster without GPU nodes cannot be accepted")
	}
	seen := map[string]string{}
	addresses := map[string]string{}
	check := func(path string, n Node) {
		key, problem := n.Problem()
		if key == "name" {
			v.add(path+".name", "%s", problem)
		} else if other, dup := seen[n.Name]; dup {
			v.add(path+".name", "duplicate node %q (also at %s)", n.Name, other)
		}
		seen[n.Name] = path
		if n.Address == "" {
			return
		}
		if key == "address" {
			v.add(path+".address", "%s", problem)
		} else if other, dup := addresses[n.Address]; dup {
			v.add(path+".address", "%s is the address of %s too", n.Address, other)
		}
		addresses[n.Address] = n.Name
	}
	for i, n := range inv.Nodes {
		check(fmt.Sprintf("inventory.nodes.%d", i), n)
	}
	for i, n := range inv.SystemNodes {
		check(fmt.Sprintf("inventory.systemNodes.%d", i), n)
	}
	v.otherNodes(inv)
}

// Problem is the first invalid key of a node, with the problem; empty for a valid node.
func (n Node) Problem() (key, problem string) {
	if !nodeName.MatchString(n.Name) {
		return "name", fmt.Sprintf("invalid node name %q: must be the Kubernetes node name", n.Name)
	}
	if _, _, err := net.SplitHostPort(n.Address); n.Address != "" && err != nil {
		return "address", fmt.Sprintf("%q is not host:port", n.Address)
	}
	return "", ""
}

func (v *validator) reach(s *Site) {
	v.ssh(s)
	v.oneOf("reach.gpuTools", s.Reach.GPUTools, []string{ToolsAuto, ToolsOnHost, ToolsInPods})
	if s.Reach.GPUTools != ToolsOnHost && s.GPUStack.Provided() {
		v.add("reach.gpuTools", "%s means the GPU Operator's pods: use %s with gpustack.managedBy: %s", s.Reach.GPUTools, ToolsOnHost, ManagedByProvider)
	}
	v.endpoint("reach.prometheus", s.Reach.Prometheus)
	v.endpoint("reach.alertmanager", s.Reach.Alertmanager)
	names := map[string]string{s.Reach.Alertmanager.Name(): "reach.alertmanager"}
	for i, e := range s.Reach.AlertmanagerReplicas {
		path := fmt.Sprintf("reach.alertmanagerReplicas.%d", i)
		v.endpoint(path, e)
		v.once(names, path, e.Name())
	}
}
