package preflight

import (
	"errors"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/firstlight/firstlight/internal/workload"
)

// pods renders the workload of a gate with GPUs.
func pods(gates ...string) []rendered {
	var specs []workload.Spec
	for _, g := range gates {
		specs = append(specs, workload.Spec{Name: g, Gate: g, Pods: 2, GPUs: 8, Image: "i", Container: "c", Script: "true", Nodes: []string{"a", "b"}, OnePerNode: true})
	}
	return mustRender(specs)
}

func mustRender(specs []workload.Spec) []rendered {
	out, err := render("x", nil, specs)
	if err != nil {
		panic(err)
	}
	return out
}

func TestJudgePodSecurity(t *testing.T) {
	t.Parallel()
	labelled := func(level string) spaceFacts {
		return spaceFacts{name: "x", found: &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"pod-security.kubernetes.io/enforce": level}}}}
	}
	locking := pods("collective")
	locking[0].spec.NetworkResource, locking[0].spec.NetworkCount = "rdma/ib", 8
	locking = mustRender([]workload.Spec{locking[0].spec})
	for name, tt := range map[string]struct {
		space spaceFacts
		pods  []rendered
		want  []string
	}{
		"own":              {spaceFacts{}, append(pods("telemetry"), locking...), nil},
		"no label":         {spaceFacts{name: "x", found: &corev1.Namespace{}}, locking, nil},
		"privileged":       {labelled("privileged"), locking, nil},
		"baseline":         {labelled("baseline"), pods("telemetry"), nil},
		"baseline, locks":  {labelled("baseline"), append(pods("telemetry"), locking...), []string{"would-stop pod security x: the level baseline refuses the pods of collective: "}},
		"restricted":       {labelled("restricted"), pods("telemetry", "inference"), []string{"would-stop pod security x: the level restricted refuses the pods of telemetry, inference: "}},
		"no such level":    {labelled("strict"), pods("telemetry"), []string{"unobserved pod security x: enforce"}},
		"namespace unread": {spaceFacts{name: "x", err: errors.New("down")}, pods("telemetry"), nil},
	} {
		require(t, name, judgePodSecurity(tt.space, tt.pods), tt.want...)
	}
}

func TestJudgeAdmission(t *testing.T) {
	t.Parallel()
	refused := apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, "p", errors.New("not welcome"))
	secured := apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, "p", errors.New(`violates PodSecurity "restricted:latest"`))
	quota := apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, "p", errors.New("exceeded quota: team"))
	for name, tt := range map[string]struct {
		all  []admitted
		want []string
	}{
		"admitted":                {[]admitted{{"a", "pod", nil}, {"b", "job", nil}}, nil},
		"refused":                 {[]admitted{{"a", "pod", refused}, {"b", "pod", nil}, {"c", "pod", refused}}, []string{"would-stop admission x: cannot create a pod of a, c: "}},
		"webhook down":            {[]admitted{{"a", "pod", apierrors.NewInternalError(errors.New("failed calling webhook"))}}, []string{"unobserved admission x: failed calling webhook"}},
		"of another line":         {[]admitted{{"a", "pod", secured}, {"b", "pod", quota}}, nil},
		"no permission":           {[]admitted{{"a", "", nil}}, nil},
		"permission not reviewed": {[]admitted{{"a", "", errors.New("down")}}, []string{"unobserved admission x: down"}},
	} {
		require(t, name, judgeAdmission("x", tt.all), tt.want...)
	}
	if lines := judgeAdmission("x", []admitted{{"a", "pod", secured}}); len(lines) != 0 {
		t.Errorf("pods that another line refuses are ok: %+v", lines)
	}
}
