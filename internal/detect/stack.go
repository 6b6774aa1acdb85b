package detect

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firstlight/firstlight/internal/conformance/dra/inventory"
	"github.com/firstlight/firstlight/internal/distribution"
	"github.com/firstlight/firstlight/internal/probe/kube"
	"github.com/firstlight/firstlight/internal/site"
)

// plugins describes the DaemonSets that offer GPUs without the GPU Operator.
func (s *Snapshot) plugins(k names) []string {
	var out []string
	for _, i := range s.pluginSets(k) {
		if what := s.plugin(k, &s.DaemonSets[i]); what != "" {
			out = append(out, fmt.Sprintf("DaemonSet %s/%s (%s)", s.DaemonSets[i].Namespace, s.DaemonSets[i].Name, what))
		}
	}
	return out
}

// plugin is what device plugin a DaemonSet is that is not the GPU Operator's; empty: none.
func (s *Snapshot) plugin(k names, set *appsv1.DaemonSet) string {
	if s.operand(k, set) {
		return ""
	}
	for _, w := range k.Without {
		if matches(w.Name, set.Name) {
			return ""
		}
	}
	for _, p := range k.DevicePlugins {
		if matches(p.Name, set.Name) && (p.Distribution == "" || s.isOf(p.Distribution)) {
			return p.What
		}
	}
	return ""
}

// isOf reports whether a node runs a distribution.
func (s *Snapshot) isOf(name string) bool {
	d, err := s.distributions()
	return err == nil && slices.ContainsFunc(d.groups, func(g distribution.Group) bool { return g.Name == name })
}

// pluginSets are the indexes of the DaemonSets of device plugins: those with pods to run. A cloud has one for each size
// and image of a node. Without any all of them, which have no node yet.
func (s *Snapshot) pluginSets(k names) []int {
	var all, running []int
	for i := range s.DaemonSets {
		if set := &s.DaemonSets[i]; s.plugin(k, set) != "" {
			all = append(all, i)
			if set.Status.DesiredNumberScheduled > 0 {
				running = append(running, i)
			}
		}
	}
	if len(running) > 0 {
		return running
	}
	return all
}

// provided writes the keys of a cluster whose driver and device plugin are the provider's.
func (s *Snapshot) provided(k names, p *page, plugins []string, machines []machine) {
	var sets, namespaces []string
	for _, i := range s.pluginSets(k) {
		set := &s.DaemonSets[i]
		sets, namespaces = append(sets, set.Name), append(namespaces, set.Namespace)
	}
	slices.Sort(sets)
	slices.Sort(namespaces)
	seenThere := strings.Join(plugins, ", ")
	p.set(2, "managedBy", seen(site.ManagedByProvider, "no ClusterPolicy, and %s", seenThere))
	operands := slices.Compact(slices.Clone(sets))
	if cloud, ok := provider(machines, strings.Join(slices.Compact(slices.Clone(namespaces)), ","), sets); ok {
		operands = cloud.Plugin.DaemonSets // a pattern of all of them: nodes of another size have another one
		p.set(2, "provider", seen(cloud.Name, "spec.providerID %s... and labels of the GPU nodes, and the place of the device plugin: %s", cloud.ProviderID, cloud.What))
	}
	if namespaces = slices.Compact(namespaces); len(namespaces) == 1 {
		p.set(2, "namespace", seen(namespaces[0], "%s", seenThere))
	} else {
		p.set(2, "namespace", todo("", "one of %s: two device plugins would register the same GPUs", strings.Join(namespaces, ", ")))
	}
	p.set(2, "operands", seen(operands, "device plugins; * and ? match parts of names"))
	s.offer(p, machines)
	s.scheduler(p)
}

// operatorNamespace is the namespace of the GPU Operator, with where it was seen; empty if not seen.
func (s *Snapshot) operatorNamespace(k names) (namespace, where string) {
	for _, p := range s.Policies {
		if p.Namespace != "" {
			return p.Namespace, "status.namespace of ClusterPolicy " + p.Name
		}
	}
	for _, c := range s.Clusters {
		if c.Namespace != "" {
			return c.Namespace, "status.namespace of GPUCluster " + c.Name
		}
	}
	for i := range s.DaemonSets {
		if set := &s.DaemonSets[i]; s.owned(set) {
			return set.Namespace, "DaemonSet " + set.Name + " of the operator"
		}
	}
	if len(s.Policies) == 0 {
		return "", ""
	}
	for i := range s.DaemonSets {
		if set := &s.DaemonSets[i]; slices.ContainsFunc(k.Operands, func(name string) bool { return strings.HasPrefix(set.Name, name) }) {
			return set.Namespace, "DaemonSet " + set.Name + ", by its name"
		}
	}
	return "", ""
}

// owned tells that a ClusterPolicy, a GPUCluster or an NVIDIADriver controls a DaemonSet.
func (s *Snapshot) owned(set *appsv1.DaemonSet) bool {
	owner := metav1.GetControllerOf(set)
	return owner != nil && (owner.Kind == "ClusterPolicy" || owner.Kind == "GPUCluster" || owner.Kind == "NVIDIADriver")
}

// operand tells that a DaemonSet belongs to the GPU Operator: by its owner, or by its name in the
// operator's namespace.
func (s *Snapshot) operand(k names, set *appsv1.DaemonSet) bool {
	if s.owned(set) {
		return true
	}
	namespace, _ := s.operatorNamespace(k)
	return namespace != "" && set.Namespace == namespace &&
		slices.ContainsFunc(k.Operands, func(name string) bool { return strings.HasPrefix(set.Name, name) })
}

// operands are the operator's DaemonSets that have pods to run, with the number of their pods; those of NVIDIADrivers, whose names
// have a hash, are judged as such.
func (s *Snapshot) operands(k names) map[string]int {
	out := map[string]int{}
	for i := range s.DaemonSets {
		set := &s.DaemonSets[i]
		if owner := metav1.GetControllerOf(set); owner != nil && owner.Kind == "NVIDIADriver" || !s.operand(k, set) || set.Status.DesiredNumberScheduled == 0 {
			continue
		}
		name := set.Name
		for _, driver := range k.VersionedDrivers {
			if strings.HasPrefix(name, driver) {
				name = driver + "*"
			}
		}
		out[name] += int(set.Status.DesiredNumberScheduled)
	}
	return out
}

// partial writes a TODO for each operand that has fewer pods than there are GPU nodes: gate gpustack requires a pod on each node that
// does not decline it by a label.
func partial(p *page, operands map[string]int, gpuNodes int) {
	for _, name := range slices.Sorted(maps.Keys(operands)) {
		if n := operands[name]; n < gpuNodes {
			p.todo(2, "DaemonSet %s has pods on %d of %d GPU nodes: repair it, or remove it from operands; keep it if the others have a label such as nvidia.com/gpu.deploy.driver=pre-installed or nvidia.com/mig.capable=false", name, n, gpuNodes)
		}
	}
}

// patterns explains the patterns among operands.
func patterns(operands []string) string {
	if slices.ContainsFunc(operands, func(name string) bool { return strings.HasSuffix(name, "*") }) {
		return "; * is the kernel or OS in the name of a driver's"
	}
	return ""
}

// gpustack writes the block gpustack.
func (s *Snapshot) gpustack(k names, p *page, machines []machine) {
	p.key(0, "gpustack")
	if len(s.Drivers) > 0 {
		p.note(2, "seen: NVIDIADriver %s", strings.Join(s.Drivers, ", "))
	}
	plugins := s.plugins(k)
	if len(plugins) > 0 && len(s.Policies)+len(s.Clusters) == 0 && s.Unread[unreadPolicies] == "" {
		s.provided(k, p, plugins, machines)
		return
	}
	if cloud, ok := provider(machines, "", nil); ok && len(plugins)+len(s.Policies)+len(s.Clusters) == 0 && s.Unread[unreadPolicies] == "" && s.Unread[unreadDaemonSets] == "" {
		p.set(2, "managedBy", seen(site.ManagedByProvider, "no ClusterPolicy, and no DaemonSet of a device plugin"))
		p.set(2, "provider", seen(cloud.Name, "spec.providerID %s... and labels of the GPU nodes: %s", cloud.ProviderID, cloud.What))
		s.offer(p, machines)
		s.scheduler(p)
		return
	}
	if len(plugins) > 0 && len(s.Policies)+len(s.Clusters) > 0 {
		p.todo(2, "two programs may offer nvidia.com/gpu: the GPU Operator, and %s; remove one of them", strings.Join(plugins, ", "))
	}
	namespace, where := s.operatorNamespace(k)
	switch {
	case namespace != "":
		p.set(2, "namespace", seen(namespace, "%s", where))
	default:
		p.set(2, "namespace", todo("", "the namespace of the GPU Operator; %s", s.without(plugins)))
	}
	switch {
	case len(s.Policies) == 1:
		p.set(2, "clusterPolicy", seen(s.Policies[0].Name, "the one ClusterPolicy"))
	case len(s.Policies) == 0 && len(s.Clusters) == 1:
		p.set(2, "gpuCluster", seen(s.Clusters[0].Name, "the one GPUCluster, and no ClusterPolicy"))
	case len(s.Policies) == 0 && len(s.Clusters) > 1:
		p.set(2, "gpuCluster", todo("", "the GPUCluster whose state is not ignored: the operator uses one"))
	case len(s.Policies) == 0:
		p.set(2, "clusterPolicy", todo("", "the name of the ClusterPolicy: gate gpustack judges the GPU Operator; %s", s.without(plugins)))
	default:
		var names []string
		for _, policy := range s.Policies {
			names = append(names, policy.Name)
		}
		p.set(2, "clusterPolicy", todo("", "one of %s: the operator uses one ClusterPolicy", strings.Join(names, ", ")))
	}
	if counts := s.operands(k); len(counts) > 0 {
		partial(p, counts, len(machines))
		operands := slices.Sorted(maps.Keys(counts))
		p.set(2, "operands", seen(operands, "DaemonSets of the operator with pods to run%s", patterns(operands)))
	} else {
		p.set(2, "operands", todo([]string{}, "the operator's DaemonSets that must be complete; %s", cmp.Or(s.Unread[unreadDaemonSets], "none was seen")))
	}
	s.offer(p, machines)
	s.scheduler(p)
}

// offer writes how GPUs are offered, where it is one way: by DRA alone, or by the device plugin alone.
func (s *Snapshot) offer(p *page, machines []machine) {
	plugged := slices.ContainsFunc(machines, func(m machine) bool { return kube.Count(m.node.Status.Capacity, kube.GPUResource) > 0 })
	claimed := slices.ContainsFunc(machines, func(m machine) bool {
		gpus, _, _ := inventory.GPUsOnNode(s.Slices, m.node.Name)
		return len(gpus) > 0
	})
	switch {
	case plugged && !claimed && s.Unread[unreadSlices] == "":
		p.set(2, "draDriver", seen(site.DRANone, "no GPU is in a ResourceSlice"))
	case claimed && !plugged:
		p.set(2, "deviceClass", seen(site.DRADeviceClass, "no node offers %s, and ResourceSlices have GPUs", kube.GPUResource))
	case len(machines) > 0 && !plugged && !claimed:
		p.todo(2, "no node offers %s: install or repair the device plugin", kube.GPUResource)
	}
}

// without says what offers GPUs instead of the GPU Operator.
func (s *Snapshot) without(plugins []string) string {
	switch {
	case s.Unread[unreadPolicies] != "":
		return s.Unread[unreadPolicies]
	case len(plugins) > 0:
		return "seen instead: " + strings.Join(plugins, ", ")
	default:
		return "no ClusterPolicy and no device plugin was seen; where the nodes' image has it, write managedBy: provider instead"
	}
}

func (s *Snapshot) scheduler(p *page) {
	var names []string
	for _, d := range s.Schedulers {
		names = append(names, fmt.Sprintf("%s (%s)", d.Name, d.API))
	}
	switch len(s.Schedulers) {
	case 0:
		p.set(2, "gangScheduler", todo("auto", "install a gang scheduler: %s", cmp.Or(s.Unread[unreadSchedulers], "the cluster serves no API of KAI, Volcano, Kueue or native gangs")))
		return
	case 1:
		p.set(2, "gangScheduler", seen(s.Schedulers[0].Name, "the cluster serves %s", names[0]))
	default:
		p.set(2, "gangScheduler", byDefault("auto", "the first of %s, which the cluster serves", strings.Join(names, ", ")))
	}
	if first := s.Schedulers[0].Name; first == "kai" || first == "kueue" {
		p.set(2, "queue", todo("", "the queue of %s that runs may use", first))
	}
}
