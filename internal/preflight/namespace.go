package preflight

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firstlight/firstlight/internal/probe/kube"
)

// runID is the run of the objects of dry runs.
const runID = "preflight"

const (
	remedyAdmission = "find the admission policy or webhook that refuses the object (its name is in the message), and exempt the run's namespace or label " + kube.LabelRun
	remedyRead      = "grant the account read access: firstlight accept rbac prints the roles"
)

// spaceFacts are the observations of the namespace of a run.
type spaceFacts struct {
	// name is the namespace that an administrator created; empty: the run creates its own.
	name string
	// found is the namespace; nil if it does not exist or was not read.
	found *corev1.Namespace
	// err is the error of reading it, or of the dry run that creates one.
	err error
	// mayCreate: the account may create namespaces; reviewErr: that is unknown.
	mayCreate bool
	reviewErr error
}

// missing reports whether the namespace is known not to exist, and a run could not create it.
func (f spaceFacts) missing() bool {
	return f.name != "" && apierrors.IsNotFound(f.err) && !f.mayCreate
}

func observeSpace(ctx context.Context, c *kube.Cluster, name string) spaceFacts {
	f := spaceFacts{name: name}
	f.mayCreate, f.reviewErr = mayCreate(ctx, c, "", "", "namespaces")
	if name != "" {
		f.found, f.err = c.Client.CoreV1().Namespaces().Get(ctx, name, metav1.GetOptions{})
		if f.err != nil {
			f.found = nil
		}
		return f
	}
	if f.mayCreate {
		_, f.err = c.Client.CoreV1().Namespaces().Create(ctx, kube.RunNamespace(kube.NamespaceOf(runID), kube.Labels(runID, ""), nil), dryRun())
	}
	return f
}

func dryRun() metav1.CreateOptions { return metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}} }

func judgeSpace(f spaceFacts) []Line {
	const what = "namespace"
	target := f.name
	if target == "" {
		target = kube.NamespaceOf("RUN")
	}
	switch {
	case f.reviewErr != nil:
		return []Line{unobserved(what, target, remedyRead, "%v", f.reviewErr)}
	case f.name == "" && !f.mayCreate:
		return nil // a line of the permissions
	case f.name == "" && apierrors.IsAlreadyExists(f.err):
		return []Line{ok(what, target, "may be created")}
	case f.name == "" && f.err != nil:
		return []Line{stop(what, target, remedyAdmission, "a dry run cannot create it: %v", f.err)}
	case f.name == "":
		return []Line{ok(what, target, "may be created (dry run)")}
	case f.missing():
		return []Line{stop(what, target, fmt.Sprintf("create it as an administrator: firstlight accept rbac --namespace %s | kubectl apply -f -", target),
			"does not exist, and this account may not create namespaces")}
	case apierrors.IsNotFound(f.err):
		return []Line{ok(what, target, "does not exist; the run creates it")}
	case f.err != nil:
		return []Line{unobserved(what, target, remedyRead, "%v", f.err)}
	case f.found.Status.Phase == corev1.NamespaceTerminating:
		return []Line{stop(what, target, "wait until it is deleted, then create it again", "is being deleted")}
	default:
		return []Line{ok(what, target, "exists")}
	}
}

// observePriority asks in a dry run whether the run's PriorityClass can be created. asked is false
// without the permission, which is a line of the permissions.
func observePriority(ctx context.Context, c *kube.Cluster) (asked bool, err error) {
	allowed, err := mayCreate(ctx, c, "", schedulingv1.GroupName, "priorityclasses")
	if err != nil || !allowed {
		return false, err
	}
	_, err = c.Client.SchedulingV1().PriorityClasses().Create(ctx, kube.RunPriorityClass(runID), dryRun())
	if apierrors.IsAlreadyExists(err) {
		err = nil
	}
	return true, err
}

func judgePriority(asked bool, err error) []Line {
	const what = "priority class"
	target := kube.PriorityClassOf("RUN")
	switch {
	case !asked && err != nil:
		return []Line{unobserved(what, target, remedyRead, "%v", err)}
	case !asked:
		return nil
	case err != nil:
		return []Line{stop(what, target, remedyAdmission, "a dry run cannot create it: %v", err)}
	default:
		return []Line{ok(what, target, "may be created (dry run)")}
	}
}
