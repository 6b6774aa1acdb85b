package preflight_test

import (
	"crypto/rand"
	"fmt"
	"slices"
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/retry"

	"github.com/firstlight/firstlight/internal/gate"
	"github.com/firstlight/firstlight/internal/poll/polltest"
	"github.com/firstlight/firstlight/internal/preflight"
	"github.com/firstlight/firstlight/internal/probe/kube"
	"github.com/firstlight/firstlight/internal/suite"
)

// asGuest makes the account one with the permissions of accept rbac, without a verb of a resource.
func (p *planted) asGuest(t *testing.T, verb, of string) {
	t.Helper()
	rules, err := gate.Rules()
	if err != nil {
		t.Fatal(err)
	}
	var allowed []rbacv1.PolicyRule
	for _, r := range rules {
		r = *r.DeepCopy()
		if slices.Contains(r.Resources, of) {
			r.Verbs = slices.DeleteFunc(r.Verbs, func(v string) bool { return v == verb })
		}
		if len(r.Verbs) > 0 {
			allowed = append(allowed, r)
		}
	}
	p.cluster = p.lab.Guest(t, allowed).Cluster
}

// changeNode changes the spec of a node until the obstacle is removed.
func changeNode(name string, plant, remove func(*corev1.NodeSpec)) func(*testing.T, *planted) {
	return func(t *testing.T, p *planted) {
		t.Helper()
		nodes := p.lab.Cluster.Client.CoreV1().Nodes()
		change := func(apply func(*corev1.NodeSpec)) {
			t.Helper()
			if err := retry.RetryOnConflict(retry.DefaultBackoff, func() error {
				n, err := nodes.Get(t.Context(), name, metav1.GetOptions{})
				if err != nil {
					return err
				}
				apply(&n.Spec)
				_, err = nodes.Update(t.Context(), n, metav1.UpdateOptions{})
				return err
			}); err != nil {
				t.Fatal(err)
			}
		}
		change(plant)
		p.undo = append(p.undo, func() { change(remove) })
	}
}

// refuse adds an admission policy that refuses the creation of a resource that has a label of runs,
// and waits until it is in force.
func refuse(group, plural string) func(*testing.T, *planted) {
	return func(t *testing.T, p *planted) {
		t.Helper()
		const name = "preflight-refuses"
		api := p.lab.Cluster.Client.AdmissionregistrationV1()
		policy := &admissionv1.ValidatingAdmissionPolicy{
			ObjectMeta: metav1.ObjectMeta{Name: name},
			Spec: admissionv1.ValidatingAdmissionPolicySpec{
				FailurePolicy: new(admissionv1.Fail),
				MatchConstraints: &admissionv1.MatchResources{ResourceRules: []admissionv1.NamedRuleWithOperations{{RuleWithOperations: admissionv1.RuleWithOperations{
					Operations: []admissionv1.OperationType{admissionv1.Create},
					Rule:       admissionv1.Rule{APIGroups: []string{group}, APIVersions: []string{"v1"}, Resources: []string{plural}},
				}}}},
				Validations: []admissionv1.Validation{{Expression: fmt.Sprintf("!has(object.metadata.labels) || !(%q in object.metadata.labels)", kube.LabelRun), Message: "runs are not welcome"}},
			},
		}
		if _, err := api.ValidatingAdmissionPolicies().Create(t.Context(), policy, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		binding := &admissionv1.ValidatingAdmissionPolicyBinding{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: admissionv1.ValidatingAdmissionPolicyBindingSpec{
			PolicyName: name, ValidationActions: []admissionv1.ValidationAction{admissionv1.Deny},
		}}
		if _, err := api.ValidatingAdmissionPolicyBindings().Create(t.Context(), binding, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		p.undo = append(p.undo, func() {
			if err := api.ValidatingAdmissionPolicyBindings().Delete(t.Context(), name, metav1.DeleteOptions{}); err != nil {
				t.Error(err)
			}
			if err := api.ValidatingAdmissionPolicies().Delete(t.Context(), name, metav1.DeleteOptions{}); err != nil {
				t.Error(err)
			}
			p.until(t, "the policy to end", func(found []preflight.Line) bool { return len(found) == 0 })
		})
		p.until(t, "the policy to be in force", func(found []preflight.Line) bool { return len(found) > 0 })
	}
}

// until repeats the preflight until its obstacles are as expected: some parts of the lab apply a
// change later.
func (p *planted) until(t *testing.T, what string, reached func(found []preflight.Line) bool) {
	t.Helper()
	polltest.UntilNil(t, what, func() error {
		if found := obstacles(p.run(t)); !reached(found) {
			return fmt.Errorf("obstacles %+v", found)
		}
		return nil
	})
}

var clusterObstacles = []obstacle{
	{name: "permission missing", plant: func(t *testing.T, p *planted) { p.asGuest(t, "create", "jobs") }, what: "permissions", target: "cluster-wide", seen: "may not: create jobs.batch"},
	{name: "priority class forbidden", plant: func(t *testing.T, p *planted) { p.asGuest(t, "create", "priorityclasses") }, what: "permissions", target: "cluster-wide", seen: "create priorityclasses.scheduling.k8s.io"},
	{name: "namespace missing", plant: func(t *testing.T, p *planted) {
		p.asGuest(t, "create", "namespaces")
		p.namespace = "absent"
	}, what: "namespace", target: "absent", seen: "does not exist"},
	{name: "namespaces refused", level: suite.All, plant: refuse("", "namespaces"), what: "namespace", target: "firstlight-RUN", seen: "runs are not welcome"},
	{name: "priority class refused", plant: refuse("scheduling.k8s.io", "priorityclasses"), what: "priority class", target: "firstlight-RUN", seen: "runs are not welcome"},
	{name: "taint", plant: changeNode("gpu-01",
		func(n *corev1.NodeSpec) {
			n.Taints = append(n.Taints, corev1.Taint{Key: "maintenance", Value: "true", Effect: corev1.TaintEffectNoSchedule})
		},
		func(n *corev1.NodeSpec) {
			n.Taints = slices.DeleteFunc(n.Taints, func(t corev1.Taint) bool { return t.Key == "maintenance" })
		}), what: "node", target: "gpu-01", seen: "maintenance=true:NoSchedule"},
	{name: "cordoned node", plant: changeNode("gpu-02",
		func(n *corev1.NodeSpec) { n.Unschedulable = true }, func(n *corev1.NodeSpec) { n.Unschedulable = false }), what: "node", target: "gpu-02", seen: "cordoned"},
	{name: "RDMA resource missing", plant: fault("rdma-resource-missing", "gpu-03"), what: "node", target: "gpu-03", seen: "rdma/"},
	{name: "GPUs held by another pod", plant: func(t *testing.T, p *planted) { p.lab.Hold(t, "gpu-04", 3) }, what: "GPUs", target: "gpu-04", seen: "5 of 8 are free: pod default/occupant-"},
	{name: "no gang scheduler", plant: func(_ *testing.T, p *planted) { p.site.GPUStack.GangScheduler = "volcano" }, what: "gang scheduler", target: "volcano", seen: "none"},
	{name: "no ClusterPolicy", plant: func(_ *testing.T, p *planted) { p.site.GPUStack.ClusterPolicy = "another" }, what: "GPU Operator", target: "another", seen: "does not exist"},
	{name: "operand missing", plant: func(_ *testing.T, p *planted) {
		p.site.GPUStack.Operands = append(p.site.GPUStack.Operands, "nvidia-vgpu-manager")
	}, what: "GPU Operator", target: "gpu-operator", seen: "nvidia-vgpu-manager"},
}

// inNamespace lets the run use a namespace with a level of pod security.
func (p *planted) inNamespace(t *testing.T, level string) {
	t.Helper()
	p.namespace = "preflight-live-" + strings.ToLower(rand.Text()[:6]) // a deleted namespace ends seconds later
	api := p.lab.Cluster.Client.CoreV1()
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: p.namespace, Labels: map[string]string{"pod-security.kubernetes.io/enforce": level}}}
	polltest.UntilNil(t, "the namespace to be created", func() error {
		_, err := api.Namespaces().Create(t.Context(), ns, metav1.CreateOptions{})
		return err
	})
	p.undo = append(p.undo, func() {
		if err := api.Namespaces().Delete(t.Context(), p.namespace, metav1.DeleteOptions{}); err != nil {
			t.Error(err)
		}
	})
	polltest.UntilNil(t, "the namespace's service account", func() error {
		_, err := api.ServiceAccounts(p.namespace).Get(t.Context(), "default", metav1.GetOptions{})
		return err
	})
}

var namespaceObstacles = []obstacle{
	{name: "pod security", plant: func(t *testing.T, p *planted) { p.inNamespace(t, "restricted") }, what: "pod security", target: "preflight-live", seen: "the level restricted refuses the pods of gpustack"},
	{name: "quota", plant: func(t *testing.T, p *planted) {
		p.inNamespace(t, "privileged")
		q := &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Name: "team"}, Spec: corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{"requests.nvidia.com/gpu": resource.MustParse("16")}}}
		if _, err := p.lab.Cluster.Client.CoreV1().ResourceQuotas(p.namespace).Create(t.Context(), q, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}, what: "quota", target: "preflight-live", seen: "gate telemetry needs 32 of requests.nvidia.com/gpu, 16 of 16 are left"},
	{name: "quota of CPU", plant: func(t *testing.T, p *planted) {
		p.inNamespace(t, "privileged")
		q := &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Name: "team"}, Spec: corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{"requests.cpu": resource.MustParse("1000")}}}
		if _, err := p.lab.Cluster.Client.CoreV1().ResourceQuotas(p.namespace).Create(t.Context(), q, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}, what: "quota", target: "preflight-live", seen: "must set requests.cpu"},
	{name: "limit range", plant: func(t *testing.T, p *planted) {
		p.inNamespace(t, "privileged")
		l := &corev1.LimitRange{ObjectMeta: metav1.ObjectMeta{Name: "small"}, Spec: corev1.LimitRangeSpec{Limits: []corev1.LimitRangeItem{{Type: corev1.LimitTypeContainer, Max: corev1.ResourceList{"nvidia.com/gpu": resource.MustParse("4")}}}}}
		if _, err := p.lab.Cluster.Client.CoreV1().LimitRanges(p.namespace).Create(t.Context(), l, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}, what: "quota", target: "preflight-live", seen: "LimitRange small allows 4 of nvidia.com/gpu"},
	{name: "pods refused", plant: func(t *testing.T, p *planted) {
		p.inNamespace(t, "privileged")
		refuse("", "pods")(t, p)
	}, what: "admission", target: "preflight-live", seen: "runs are not welcome"},
}
