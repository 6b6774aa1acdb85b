package preflight

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	podsecurity "k8s.io/pod-security-admission/api"
	"k8s.io/pod-security-admission/policy"

	"github.com/firstlight/firstlight/internal/probe/kube"
	"github.com/firstlight/firstlight/internal/workload"
)

// rendered is a workload of a gate as the Job that a run would create.
type rendered struct {
	spec workload.Spec
	job  *batchv1.Job
	// claim is the template of the pods' claims; nil if they claim no GPUs.
	claim *resourcev1.ResourceClaimTemplate
	// privileged is why its pods violate the level baseline; empty if they do not.
	privileged string
}

// render renders the Jobs of workloads for a namespace.
func render(namespace string, scheduler workload.Scheduler, specs []workload.Spec) ([]rendered, error) {
	var out []rendered
	for _, spec := range specs {
		manifests, err := workload.Render(namespace, runID, scheduler, spec)
		if err != nil {
			return nil, err
		}
		why, err := workload.Privileged(&manifests.Job.Spec.Template)
		if err != nil {
			return nil, err
		}
		out = append(out, rendered{spec, manifests.Job, manifests.Claim, why})
	}
	return out, nil
}

func (r rendered) template() *corev1.PodTemplateSpec { return &r.job.Spec.Template }

const whatSecurity = "pod security"

// judgePodSecurity evaluates the pods against the Pod Security Standard that their namespace
// enforces, with the evaluator of the API server. The labels of the run's own namespaces are those
// that a run sets.
func judgePodSecurity(space spaceFacts, pods []rendered) []Line {
	if space.name != "" && space.found == nil {
		return nil // a line of the namespace
	}
	target := space.name
	if target == "" {
		target = "namespaces of the run"
	}
	evaluator, err := policy.NewEvaluator(policy.DefaultChecks(), nil)
	if err != nil {
		return []Line{unobserved(whatSecurity, target, "this is a defect of firstlight: report it", "%v", err)}
	}
	var refused, levels []string
	detail, wanted := "", podsecurity.LevelBaseline
	for _, p := range pods {
		enforced, problems := podsecurity.PolicyToEvaluate(space.labels(p), podsecurity.Policy{Enforce: podsecurity.LevelVersion{Level: podsecurity.LevelPrivileged, Version: podsecurity.LatestVersion()}})
		if len(problems) > 0 {
			return []Line{unobserved(whatSecurity, target, "correct the labels pod-security.kubernetes.io of the namespace", "%v", problems.ToAggregate())}
		}
		levels = append(levels, string(enforced.Enforce.Level))
		template := p.template()
		result := policy.AggregateCheckResults(evaluator.EvaluatePod(enforced.Enforce, &template.ObjectMeta, &template.Spec))
		if result.Allowed {
			continue
		}
		refused, detail = append(refused, p.spec.Gate), cmp.Or(detail, result.ForbiddenDetail())
		if p.privileged != "" {
			wanted = podsecurity.LevelPrivileged
		}
	}
	slices.Sort(levels)
	named := strings.Join(slices.Compact(levels), " and ")
	switch {
	case len(refused) > 0:
		return []Line{stop(whatSecurity, target, fmt.Sprintf("lower the level as an administrator: kubectl label namespace %s --overwrite pod-security.kubernetes.io/enforce=%s", target, wanted),
			"the level %s refuses the pods of %s: %s", named, strings.Join(refused, ", "), detail)}
	case len(pods) > 0:
		return []Line{ok(whatSecurity, target, "the pods of the gates comply with the enforced level: %s", named)}
	default:
		return nil
	}
}

// labels are those of the namespace of a workload.
func (f spaceFacts) labels(p rendered) map[string]string {
	switch {
	case f.found != nil:
		return f.found.Labels
	case p.privileged != "":
		return kube.PrivilegedLabels(runID, p.spec.Gate)
	default:
		return kube.RunNamespace("", kube.Labels(runID, ""), nil).Labels
	}
}

// admitted is the answer of the API server to the pods of a workload in a dry run.
type admitted struct {
	gate string
	// object is what was created in the dry run: a pod, or the Job if the account may not create
	// pods; empty if neither.
	object string
	err    error
}

// observeAdmission creates the pods of each workload in a dry run, in a namespace that exists.
// Without the permission to create pods, which a run does not need, it creates their Jobs.
func observeAdmission(ctx context.Context, c *kube.Cluster, namespace string, pods []rendered) []admitted {
	mayPods, err := mayCreate(ctx, c, namespace, "", "pods")
	mayJobs, jobsErr := mayCreate(ctx, c, namespace, batchv1.GroupName, "jobs")
	var out []admitted
	for _, r := range pods {
		a := admitted{gate: r.spec.Gate}
		switch {
		case err != nil || jobsErr != nil:
			a.err = errors.Join(err, jobsErr)
		case mayPods:
			a.object = "pod"
			pod := &corev1.Pod{ObjectMeta: *r.template().ObjectMeta.DeepCopy(), Spec: *r.template().Spec.DeepCopy()}
			pod.GenerateName, pod.Namespace = "firstlight-"+runID+"-", namespace
			pod.Spec.PriorityClassName = "" // the run's own, which does not exist yet
			_, a.err = c.Client.CoreV1().Pods(namespace).Create(ctx, pod, dryRun())
		case mayJobs:
			a.object = "job"
			job := r.job.DeepCopy()
			job.Name, job.Namespace = "firstlight-"+runID, namespace
			_, a.err = c.Client.BatchV1().Jobs(namespace).Create(ctx, job, dryRun())
		}
		out = append(out, a)
	}
	return out
}

// judgeAdmission leaves refusals for the pod security standard or a quota to their lines.
func judgeAdmission(namespace string, all []admitted) []Line {
	const what = "admission"
	var refused, unknown []string
	object, reason := "", ""
	for _, a := range all {
		switch {
		case a.object == "" && a.err != nil:
			return []Line{unobserved(what, namespace, remedyRead, "%v", a.err)}
		case a.object == "":
			return nil // a line of the permissions
		case a.err == nil:
			object = a.object
		case judgedElsewhere(a.err):
		case apierrors.IsForbidden(a.err), apierrors.IsInvalid(a.err), apierrors.IsBadRequest(a.err):
			refused, object, reason = append(refused, a.gate), a.object, a.err.Error()
		default:
			unknown, object = append(unknown, a.gate), a.object
			reason = cmp.Or(reason, a.err.Error())
		}
	}
	switch {
	case len(refused) > 0:
		return []Line{stop(what, namespace, remedyAdmission, "a dry run cannot create a %s of %s: %s", object, strings.Join(refused, ", "), reason)}
	case len(unknown) > 0:
		return []Line{unobserved(what, namespace, "run the preflight again; check the webhook that the message names", "a dry run of a %s of %s: %s", object, strings.Join(unknown, ", "), reason)}
	case object != "":
		return []Line{ok(what, namespace, "the API server admits a %s of each gate (dry run)", object)}
	default:
		return nil // each was refused for another line's reason
	}
}

func judgedElsewhere(err error) bool {
	text := err.Error()
	return strings.Contains(text, "violates PodSecurity") || strings.Contains(text, "exceeded quota") || strings.Contains(text, "failed quota") ||
		strings.Contains(text, "usage per ")
}

// tolerations are those of the pods of each workload.
func tolerations(pods []rendered) [][]corev1.Toleration {
	var out [][]corev1.Toleration
	for _, p := range pods {
		out = append(out, p.template().Spec.Tolerations)
	}
	return out
}

func observeQuotas(ctx context.Context, c *kube.Cluster, namespace string) (quotaFacts, error) {
	quotas, err := c.Client.CoreV1().ResourceQuotas(namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return quotaFacts{}, fmt.Errorf("list quotas of %s: %w", namespace, err)
	}
	limits, err := c.Client.CoreV1().LimitRanges(namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return quotaFacts{}, fmt.Errorf("list limit ranges of %s: %w", namespace, err)
	}
	return quotaFacts{quotas: quotas.Items, limits: limits.Items}, nil
}
