package preflight

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	podresource "k8s.io/component-helpers/resource"
)

// quotaFacts are the quotas and limits of a namespace.
type quotaFacts struct {
	quotas []corev1.ResourceQuota
	limits []corev1.LimitRange
}

// judgeQuotas compares each workload alone with the quotas and limits: gates delete their pods
// before the next gate begins.
func judgeQuotas(namespace string, f quotaFacts, err error, pods []rendered) []Line {
	const what = "quota"
	if err != nil {
		return []Line{unobserved(what, namespace, remedyRead, "%v", err)}
	}
	var out []Line
	for _, q := range f.quotas {
		var short []string
		for _, p := range pods {
			if missing := exceeded(q, p, withDefaults(p.template().Spec, f.limits)); missing != "" && applies(q.Spec) {
				short = append(short, "gate "+p.spec.Gate+" "+missing)
			}
		}
		if len(short) > 0 {
			out = append(out, stop(what, namespace, "raise ResourceQuota "+q.Name+" as an administrator, or wait until other pods of the namespace end", "ResourceQuota %s: %s", q.Name, strings.Join(short, "; ")))
		}
	}
	var over []string
	for _, p := range pods {
		if most := overLimit(withDefaults(p.template().Spec, f.limits), f.limits); most != "" {
			over = append(over, "gate "+p.spec.Gate+": "+most)
		}
	}
	if len(over) > 0 {
		out = append(out, stop(what, namespace, "raise the LimitRange as an administrator", "%s", strings.Join(over, "; ")))
	}
	if len(out) == 0 {
		out = append(out, ok(what, namespace, "%d quotas and %d limit ranges leave room for the pods of each gate", len(f.quotas), len(f.limits)))
	}
	return out
}

// applies reports whether a quota counts the pods of a run: they have no requests of CPU or memory,
// no deadline, no affinity to pods of other namespaces, and a PriorityClass of the run's own.
func applies(q corev1.ResourceQuotaSpec) bool {
	matches := func(scope corev1.ResourceQuotaScope, op corev1.ScopeSelectorOperator) bool {
		switch scope {
		case corev1.ResourceQuotaScopeNotTerminating, corev1.ResourceQuotaScopeBestEffort:
			return true
		case corev1.ResourceQuotaScopePriorityClass:
			return op != corev1.ScopeSelectorOpIn && op != corev1.ScopeSelectorOpDoesNotExist
		default:
			return false
		}
	}
	for _, scope := range q.Scopes {
		if !matches(scope, corev1.ScopeSelectorOpExists) {
			return false
		}
	}
	if q.ScopeSelector != nil {
		for _, m := range q.ScopeSelector.MatchExpressions {
			if !matches(m.ScopeName, m.Operator) {
				return false
			}
		}
	}
	return true
}

// exceeded says what of a quota is too little for a workload; empty if nothing.
func exceeded(q corev1.ResourceQuota, p rendered, spec corev1.PodSpec) string {
	needs := needsOf(p, spec)
	var out []string
	for name, hard := range q.Spec.Hard {
		need, counted := needs[name]
		switch {
		case !counted && mustBeSet(name):
			out = append(out, fmt.Sprintf("must set %s: its pods have none, and no LimitRange sets a default", name))
		case !counted:
		default:
			left := hard.DeepCopy()
			left.Sub(q.Status.Used[name])
			if need.Cmp(left) > 0 {
				out = append(out, fmt.Sprintf("needs %s of %s, %s of %s are left", need.String(), name, left.String(), hard.String()))
			}
		}
	}
	slices.Sort(out)
	return strings.Join(out, "; ")
}

// mustBeSet reports whether a quota of a resource refuses pods that do not set it.
func mustBeSet(name corev1.ResourceName) bool {
	return slices.Contains([]corev1.ResourceName{
		corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourceRequestsCPU, corev1.ResourceRequestsMemory, corev1.ResourceLimitsCPU, corev1.ResourceLimitsMemory,
	}, name)
}

// needsOf are the objects and the resources that a quota counts of a workload.
func needsOf(p rendered, spec corev1.PodSpec) corev1.ResourceList {
	count := func(n int) resource.Quantity { return *resource.NewQuantity(int64(n), resource.DecimalSI) }
	out := corev1.ResourceList{
		corev1.ResourcePods: count(p.spec.Pods), "count/pods": count(p.spec.Pods), "count/jobs.batch": count(1),
		corev1.ResourceServices: count(1), "count/services": count(1),
	}
	if p.claim != nil {
		out["count/resourceclaimtemplates.resource.k8s.io"], out["count/resourceclaims.resource.k8s.io"] = count(1), count(p.spec.Pods)
		out[corev1.ResourceName(p.spec.DeviceClass)+corev1.ResourceName(corev1.ResourceClaimsPerClass)] = count(p.spec.Pods * p.spec.GPUs)
	}
	pod := &corev1.Pod{Spec: spec}
	times := func(q resource.Quantity) resource.Quantity {
		q.Mul(int64(p.spec.Pods))
		return q
	}
	for name, q := range podresource.PodRequests(pod, podresource.PodResourcesOptions{}) {
		out["requests."+name] = times(q)
		if name == corev1.ResourceCPU || name == corev1.ResourceMemory {
			out[name] = times(q)
		}
	}
	for name, q := range podresource.PodLimits(pod, podresource.PodResourcesOptions{}) {
		out["limits."+name] = times(q)
		if _, requested := out["requests."+name]; !requested { // the API server sets it
			out["requests."+name] = times(q)
		}
	}
	return out
}

// withDefaults is a pod as the API server admits it with the defaults of limit ranges.
func withDefaults(spec corev1.PodSpec, limits []corev1.LimitRange) corev1.PodSpec {
	out := *spec.DeepCopy()
	for _, l := range limits {
		for _, item := range l.Spec.Limits {
			if item.Type != corev1.LimitTypeContainer {
				continue
			}
			for i := range out.Containers {
				r := &out.Containers[i].Resources
				r.Limits, r.Requests = filled(r.Limits, item.Default), filled(r.Requests, item.DefaultRequest)
			}
		}
	}
	return out
}

func filled(have, defaults corev1.ResourceList) corev1.ResourceList {
	for name, q := range defaults {
		if _, set := have[name]; set {
			continue
		}
		if have == nil {
			have = corev1.ResourceList{}
		}
		have[name] = q
	}
	return have
}

// overLimit says which maximum of a LimitRange a pod exceeds; empty if none.
func overLimit(spec corev1.PodSpec, limits []corev1.LimitRange) string {
	sums := podresource.PodLimits(&corev1.Pod{Spec: spec}, podresource.PodResourcesOptions{})
	for _, l := range limits {
		for _, item := range l.Spec.Limits {
			for name, most := range item.Max {
				var has []corev1.ResourceList
				switch item.Type {
				case corev1.LimitTypePod:
					has = []corev1.ResourceList{sums}
				case corev1.LimitTypeContainer:
					for _, c := range spec.Containers {
						has = append(has, c.Resources.Limits)
					}
				default:
				}
				for _, list := range has {
					if q, set := list[name]; set && q.Cmp(most) > 0 {
						return fmt.Sprintf("LimitRange %s allows %s of %s for each %s, its pods have %s", l.Name, most.String(), name, strings.ToLower(string(item.Type)), q.String())
					}
				}
			}
		}
	}
	return ""
}
