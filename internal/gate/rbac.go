package gate

import (
	"bytes"
	_ "embed" // the rules
	"fmt"
	"slices"
	"strings"
	"sync"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/firstlight/firstlight/internal/autoscale"
	"github.com/firstlight/firstlight/internal/gate/collective"
	"github.com/firstlight/firstlight/internal/gate/fabric"
	"github.com/firstlight/firstlight/internal/gate/facility"
	"github.com/firstlight/firstlight/internal/gate/gpustack"
	"github.com/firstlight/firstlight/internal/gate/node"
	"github.com/firstlight/firstlight/internal/gate/training"
	"github.com/firstlight/firstlight/internal/site"
)

//go:embed rbac.yaml
var rbacFile []byte

// RoleName is the name of the roles.
const RoleName = "firstlight"

// Allowed selects the roles that RBAC prints.
type Allowed struct {
	// Gates are the names of gates and extras.
	Gates []string
	// Namespace is the namespace that an administrator creates. Empty: each run creates its
	// own, which requires cluster-wide permissions for its objects.
	Namespace string
	// User, if set, is bound to the roles.
	User string
}

// block is a set of rules with one reason.
type block struct {
	For   []string            `json:"for"`
	In    string              `json:"in"`
	When  string              `json:"when,omitempty"`
	Why   string              `json:"why"`
	Rules []rbacv1.PolicyRule `json:"rules"`
}

// Values of rbac.yaml.
const (
	forRun, forPods, forRay = "run", "pods", "ray"
	inCluster, inOwn, inRun = "cluster", "own", "run"
	inOperator, inEndpoint  = "operator", "endpoint"
	inTools, inRay          = "tools", "ray"
	inAdapter, inController = "adapter", "controller"
	inDefault, inSystem     = metav1.NamespaceDefault, "system"
	whenDRA, whenRule       = "dra", "rule"
	whenK3s                 = "k3s"
)

var blocks = sync.OnceValues(func() ([]block, error) {
	var out []block
	if err := yaml.UnmarshalStrict(rbacFile, &out); err != nil {
		return nil, fmt.Errorf("read the rules of a run: %w", err)
	}
	return out, nil
})

// needed reports whether one of the gates needs it.
func (b block) needed(gates []string) bool {
	return slices.ContainsFunc(gates, func(gate string) bool {
		return slices.Contains(b.For, forRun) || slices.Contains(b.For, gate) ||
			slices.Contains(b.For, forPods) && !slices.Contains([]string{facility.Name, fabric.Name, node.Name, forRay}, gate)
	})
}

// holds reports whether the site meets the condition.
func (b block) holds(s *site.Site) bool {
	switch b.When {
	case whenDRA:
		return s.GPUStack.DeviceClass != ""
	case whenRule:
		return s.Telemetry.Alert.Through == site.ThroughRule
	case whenK3s:
		return s.Spine == site.SpineK3s
	default:
		return true
	}
}

// Rules are the cluster-wide rules for all gates and extras in a cluster where runs create their
// own namespaces.
func Rules() ([]rbacv1.PolicyRule, error) {
	all, err := blocks()
	if err != nil {
		return nil, err
	}
	var out []rbacv1.PolicyRule
	for _, b := range all {
		if b.In != inTools && (b.When == "" || b.When == whenRule) {
			out = append(out, b.Rules...)
		}
	}
	return out, nil
}

// role is a Role, or the ClusterRole if namespace is empty.
type role struct {
	namespace string
	blocks    []block
}

// roles are the roles that the gates need, the ClusterRole first.
func roles(s *site.Site, a Allowed) ([]role, error) {
	all, err := blocks()
	if err != nil {
		return nil, err
	}
	gates := slices.Clone(a.Gates)
	if i := slices.Index(gates, gpustack.Name); i >= 0 && s.OnRay() {
		gates[i] = forRay // the gate of this layer is another one
	}
	out := []role{{}}
	for _, b := range all {
		if !b.needed(gates) || !b.holds(s) || b.In == inOwn && a.Namespace != "" || b.In == inTools && s.Reach.GPUTools == site.ToolsOnHost {
			continue
		}
		if a.Namespace == "" && b.In != inTools {
			out[0].blocks = append(out[0].blocks, b)
			continue
		}
		for _, r := range b.placed(s, a.Namespace) {
			i := slices.IndexFunc(out, func(have role) bool { return have.namespace == r.namespace })
			if i < 0 {
				out = append(out, role{namespace: r.namespace})
				i = len(out) - 1
			}
			out[i].blocks = append(out[i].blocks, r.blocks...)
		}
	}
	return out, nil
}

// placed is where the rules of a block hold on a site.
func (b block) placed(s *site.Site, namespace string) []role {
	of := func(ref string) []role {
		ns, _, ok := strings.Cut(ref, "/")
		if !ok {
			return nil // not a Deployment of this cluster
		}
		return []role{{ns, []block{b}}}
	}
	switch b.In {
	case inRun:
		return []role{{namespace, []block{b}}}
	case inDefault:
		return []role{{metav1.NamespaceDefault, []block{b}}}
	case inSystem:
		return []role{{metav1.NamespaceSystem, []block{b}}}
	case inRay:
		return []role{{s.Ray.Namespace, []block{b}}}
	case inOperator, inTools:
		return []role{{s.GPUStack.Namespace, []block{b}}}
	case inAdapter:
		return of(s.Autoscale.Adapter)
	case inController:
		return of(s.Autoscale.Controller)
	case inEndpoint:
		var out []role
		for _, e := range append([]site.Endpoint{s.Reach.Prometheus, s.Reach.Alertmanager}, s.Reach.AlertmanagerReplicas...) {
			scheme, service := "", e.Service
			if rest, ok := strings.CutPrefix(service, "https:"); ok {
				scheme, service = "https:", rest
			}
			ns, name, ok := strings.Cut(service, "/")
			if !ok {
				continue // by URL
			}
			named := b
			named.Rules = slices.Clone(b.Rules)
			for i := range named.Rules {
				named.Rules[i].ResourceNames = []string{scheme + name}
			}
			out = append(out, role{ns, []block{named}})
		}
		return out
	default:
		return []role{{"", []block{b}}}
	}
}

// Permission is one rule of the roles that RBAC prints.
type Permission struct {
	// Conditional: only a run that finds hosts without their tools needs it.
	Conditional bool
	// Namespace is empty for a rule of the ClusterRole.
	Namespace string
	// Why is the reason for the rule.
	Why  string
	Rule rbacv1.PolicyRule
}

// Permissions are the rules of the roles that RBAC prints.
func Permissions(s *site.Site, a Allowed) ([]Permission, error) {
	all, err := roles(s, a)
	if err != nil {
		return nil, err
	}
	var out []Permission
	for _, r := range all {
		for _, b := range r.blocks {
			for _, rule := range b.Rules {
				out = append(out, Permission{Namespace: r.namespace, Why: b.Why, Rule: rule, Conditional: b.In == inTools && s.Reach.GPUTools != site.ToolsInPods})
			}
		}
	}
	return out, nil
}

// lockers are the gates whose pods take ports for RDMA, where the site has them.
func lockers() []string { return []string{collective.Name, training.Name} }

// RBAC prints, as YAML with reasons, what a run of gates has to be allowed in the cluster of
// a site: roles, the namespace where there is one, and bindings where there is a user.
func RBAC(s *site.Site, a Allowed) ([]byte, error) {
	for _, name := range a.Gates {
		if !slices.Contains(append(site.Gates(), autoscale.Name), name) {
			return nil, fmt.Errorf("unknown gate %q: want one of %v, %s", name, site.Gates(), autoscale.Name)
		}
	}
	all, err := roles(s, a)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	if a.Namespace != "" {
		printNamespace(&out, s, a)
	}
	for _, r := range all {
		if err := r.print(&out, a.User); err != nil {
			return nil, err
		}
	}
	return bytes.TrimPrefix(out.Bytes(), []byte("---\n")), nil
}

func printNamespace(out *bytes.Buffer, s *site.Site, a Allowed) {
	level, why := "baseline", ""
	if locking := slices.DeleteFunc(lockers(), func(g string) bool { return !slices.Contains(a.Gates, g) }); len(locking) > 0 && s.Fabric.NetworkResourceCount > 0 {
		level, why = "privileged", fmt.Sprintf("# privileged: pods of %s lock memory for RDMA (IPC_LOCK), which the level baseline refuses.\n", strings.Join(locking, " and "))
	}
	if c := s.Workloads.Training.Checkpoint; c != nil && slices.Contains(a.Gates, training.Name) {
		level, why = "privileged", why+fmt.Sprintf("# privileged: pods of %s mount %s of the host (hostPath), which the level baseline refuses.\n", training.Name, c.Directory)
	}
	fmt.Fprintf(out, "---\n%sapiVersion: v1\nkind: Namespace\nmetadata:\n  name: %s\n  labels:\n    pod-security.kubernetes.io/enforce: %s\n", why, a.Namespace, level)
}

func (r role) print(out *bytes.Buffer, user string) error {
	if len(r.blocks) == 0 {
		return nil
	}
	kind, metadata := "ClusterRole", "metadata:\n  name: "+RoleName+"\n"
	if r.namespace != "" {
		kind, metadata = "Role", metadata+"  namespace: "+r.namespace+"\n"
	}
	fmt.Fprintf(out, "---\napiVersion: %s\nkind: %s\n%srules:\n", rbacv1.SchemeGroupVersion, kind, metadata)
	for _, b := range r.blocks {
		rules, err := yaml.Marshal(b.Rules)
		if err != nil {
			return fmt.Errorf("print the rules of a run: %w", err)
		}
		fmt.Fprintf(out, "# %s\n%s", b.Why, rules)
	}
	if user != "" {
		fmt.Fprintf(out, "---\napiVersion: %s\nkind: %sBinding\n%sroleRef: {apiGroup: %s, kind: %s, name: %s}\nsubjects:\n- {apiGroup: %s, kind: User, name: %q}\n",
			rbacv1.SchemeGroupVersion, kind, metadata, rbacv1.GroupName, kind, RoleName, rbacv1.GroupName, user)
	}
	return nil
}
