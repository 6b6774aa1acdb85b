package metric

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/common/model"

	"github.com/firstlight/firstlight/internal/probe/prom"
)

// The forms in which a GPU's series names the pod that uses the GPU.
const (
	Plain    = "plain"
	Exported = "exported"
)

// errNoValue: the place was asked, and its answer is no value.
var errNoValue = errors.New("no value")

// label is the name of one of the workload's labels.
func label(form, name string) string {
	if form == Exported {
		return "exported_" + name
	}
	return name
}

// Selector are the labels that choose the series of a container of a namespace.
func Selector(form, namespace, container string) map[string]string {
	s := map[string]string{label(form, "container"): container}
	if namespace != "" {
		s[label(form, "namespace")] = namespace
	}
	return s
}

// Matchers writes labels as PromQL does: {a="b"}.
func Matchers(labels map[string]string) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(labels)) {
		parts = append(parts, name+"="+strconv.Quote(labels[name]))
	}
	return "{" + strings.Join(parts, ",") + "}"
}

// FormOf tells the form: by series that have it, else by the job's honor_labels,
// else the one that firstlight's documentation recommends.
func FormOf(ctx context.Context, p prom.Prometheus, series string, job *prom.Job) (string, error) {
	samples, _, err := p.Query(ctx, "count("+series+`{exported_pod!=""})`, time.Time{})
	if err != nil {
		return Plain, fmt.Errorf("look for the workloads' labels of %s: %w", series, err)
	}
	if len(samples) > 0 || job != nil && !job.HonorLabels {
		return Exported, nil
	}
	return Plain, nil
}

// Query is what the adapter's rule asks for the metric, filled in with its
// series and labels. Without a rule it is that of firstlight's own.
func Query(template, series string, matchers map[string]string, groupBy string, window time.Duration) string {
	inner := strings.TrimSuffix(strings.TrimPrefix(Matchers(matchers), "{"), "}")
	if template == "" {
		return fmt.Sprintf("avg(avg_over_time(%s{%s}[%s]))", series, inner, span(window))
	}
	return strings.NewReplacer(
		"<<.Series>>", series, "<< .Series >>", series, "<<.LabelMatchers>>", inner, "<< .LabelMatchers >>", inner,
		"<<.GroupBy>>", groupBy, "<< .GroupBy >>", groupBy,
	).Replace(strings.TrimSpace(template))
}

// span writes a range of at least a millisecond.
func span(d time.Duration) string {
	return model.Duration(max(d, time.Millisecond).Truncate(time.Millisecond)).String()
}
