package settings

import (
	"context"
	"errors"
	"fmt"
	"path"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firstlight/firstlight/internal/autoscale/snapshot"
)

// adapter reads the adapter's arguments, and its rules if they are in a ConfigMap.
func (f *finder) adapter(ctx context.Context) {
	d, source := f.deployment(ctx, f.w.Site.Autoscale.Adapter)
	f.options(adapterOptions(), containersOf(d), source)
	text, from, err := f.rulesOf(ctx, d)
	if err == nil {
		f.found.Rules, err = ParseRules(text)
	}
	if err != nil {
		f.found.Why = err.Error()
		f.add(snapshot.SettingWindow, assumedWindow, "assumed: "+err.Error(), true)
		return
	}
	rule, ok := RuleOf(f.found.Rules, f.w.External, f.found.Metric)
	if !ok {
		f.add(snapshot.SettingWindow, assumedWindow, "assumed: no rule of "+from+" serves "+f.found.Metric, true)
		return
	}
	f.found.Rule = rule
	f.add(snapshot.SettingWindow, rule.Window(), from, false)
}

// assumedWindow is that of firstlight's own rules.
const assumedWindow = 2 * time.Minute

// rulesOf returns the --config file from the mounted ConfigMaps.
func (f *finder) rulesOf(ctx context.Context, d *appsv1.Deployment) (text, source string, err error) {
	if d == nil {
		return "", "", errors.New("the adapter's Deployment could not be read")
	}
	for _, c := range d.Spec.Template.Spec.Containers {
		file := configFile(c)
		if file == "" {
			continue
		}
		for _, m := range c.VolumeMounts {
			if name := configMapOf(d, m.Name); name != "" && (path.Dir(file) == path.Clean(m.MountPath) || file == m.MountPath) {
				cm, err := f.w.Cluster.Client.CoreV1().ConfigMaps(d.Namespace).Get(ctx, name, metav1.GetOptions{})
				if err != nil {
					return "", "", fmt.Errorf("read the adapter's rules: %w", err)
				}
				if text, ok := cm.Data[path.Base(file)]; ok {
					return text, "ConfigMap " + d.Namespace + "/" + name, nil
				}
			}
		}
	}
	return "", "", errors.New("the adapter's --config file is not in a mounted ConfigMap")
}

func configFile(c corev1.Container) string {
	args := append(append([]string{}, c.Command...), c.Args...)
	for i, a := range args {
		if file, ok := strings.CutPrefix(a, "--config="); ok {
			return file
		}
		if a == "--config" && i+1 < len(args) {
			return args[i+1]
		}
	}
	return ""
}

func configMapOf(d *appsv1.Deployment, volume string) string {
	for _, v := range d.Spec.Template.Spec.Volumes {
		if v.Name == volume && v.ConfigMap != nil {
			return v.ConfigMap.Name
		}
	}
	return ""
}
