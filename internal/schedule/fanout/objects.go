package fanout

import (
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/firstlight/firstlight/internal/probe/kube"
)

// Objects are what a run creates within its namespace; the Job owns the others.
type Objects struct {
	Job         *batchv1.Job
	Account     *corev1.ServiceAccount
	Role        *rbacv1.Role
	RoleBinding *rbacv1.RoleBinding
	// Maps are the input of the shards.
	Maps []*corev1.ConfigMap
}

// Render builds the objects of a run. It does no I/O.
func Render(s *Spec) Objects {
	meta := func(name, role string) metav1.ObjectMeta {
		return metav1.ObjectMeta{Name: name, Namespace: s.namespace(), Labels: labels(s.RunID, role)}
	}
	o := Objects{
		Job: renderJob(s),
		Account: &corev1.ServiceAccount{
			TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "ServiceAccount"},
			ObjectMeta: meta(s.job(), roleShard),
		},
		Role: &rbacv1.Role{
			TypeMeta:   metav1.TypeMeta{APIVersion: rbacv1.SchemeGroupVersion.String(), Kind: "Role"},
			ObjectMeta: meta(s.job(), roleShard),
			Rules:      shardRules(s),
		},
		RoleBinding: &rbacv1.RoleBinding{
			TypeMeta:   metav1.TypeMeta{APIVersion: rbacv1.SchemeGroupVersion.String(), Kind: "RoleBinding"},
			ObjectMeta: meta(s.job(), roleShard),
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: s.job()},
			Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Name: s.job(), Namespace: s.namespace()}},
		},
		Maps: []*corev1.ConfigMap{{
			TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"},
			ObjectMeta: meta(namesMap(s), roleNames),
			Immutable:  new(true),
			Data:       map[string]string{namesFile: formatNames(s.Names)},
		}},
	}
	if s.PullSecret != "" {
		o.Account.ImagePullSecrets = []corev1.LocalObjectReference{{Name: s.PullSecret}}
	}
	if s.Recipes != nil {
		o.Maps = append(o.Maps, &corev1.ConfigMap{
			TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"},
			ObjectMeta: meta(recipesMap(s), roleRecipes),
			Immutable:  new(true),
			BinaryData: map[string][]byte{recipesFile: s.Recipes},
		})
	}
	return o
}

// shardRules allow a shard to create ConfigMaps, and to read and replace reports. (RBAC
// cannot limit creation to names.)
func shardRules(s *Spec) []rbacv1.PolicyRule {
	var reports []string
	for i := range s.Shards {
		reports = append(reports, s.reportName(i))
	}
	return []rbacv1.PolicyRule{
		{APIGroups: []string{""}, Resources: []string{"configmaps"}, Verbs: []string{"create"}},
		{APIGroups: []string{""}, Resources: []string{"configmaps"}, Verbs: []string{"get", "update"}, ResourceNames: reports},
	}
}

// ownedBy makes the created Job the owner of the other objects.
func (o *Objects) ownedBy(uid types.UID) {
	for _, m := range o.dependents() {
		m.OwnerReferences = owner(o.Job.Name, uid)
	}
}

func (o *Objects) dependents() []*metav1.ObjectMeta {
	out := []*metav1.ObjectMeta{&o.Account.ObjectMeta, &o.Role.ObjectMeta, &o.RoleBinding.ObjectMeta}
	for _, m := range o.Maps {
		out = append(out, &m.ObjectMeta)
	}
	return out
}

func owner(job string, uid types.UID) []metav1.OwnerReference {
	return []metav1.OwnerReference{{APIVersion: batchv1.SchemeGroupVersion.String(), Kind: "Job", Name: job, UID: uid}}
}

// namespaceOf is the run's own namespace, with the restricted pod security standard.
func namespaceOf(s *Spec) *corev1.Namespace {
	l := kube.Labels(s.RunID, "")
	l["pod-security.kubernetes.io/enforce"] = "restricted"
	return &corev1.Namespace{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Namespace"},
		ObjectMeta: metav1.ObjectMeta{Name: s.namespace(), Labels: l},
	}
}
