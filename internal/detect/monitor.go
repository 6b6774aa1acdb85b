package detect

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/firstlight/firstlight/internal/probe/prom"
)

// monitor is how a program of monitoring is known by its Services.
type monitor struct {
	name string
	port int32
	// operated is the headless Service that the Prometheus operator creates next to a proper one.
	operated string
}

var (
	prometheus   = monitor{name: "prometheus", port: 9090, operated: "prometheus-operated"}
	alertmanager = monitor{name: "alertmanager", port: 9093, operated: "alertmanager-operated"}
)

// servingCert is the annotation by which OpenShift gives a Service a certificate.
const servingCert = "service.beta.openshift.io/serving-cert-secret-name"

// named tells that a Service belongs to the program by its name: "prometheus-k8s" and
// "kube-prometheus-stack-prometheus" are, "prometheus-stack-alertmanager" is another one's.
func (m monitor) named(service string) bool {
	for _, other := range []monitor{prometheus, alertmanager} {
		if service == other.name || strings.HasSuffix(service, "-"+other.name) {
			return other.name == m.name
		}
	}
	return strings.HasPrefix(service, m.name+"-")
}

// found is a Service of a monitor.
type found struct {
	// ref is "namespace/name:port", with the prefix https: for TLS.
	ref string
	why string
}

// monitors are the Services of a program: by the label app.kubernetes.io/name, or by name and port.
func (s *Snapshot) monitors(of monitor) []found {
	var out []found
	for i := range s.Services {
		svc := &s.Services[i]
		labelled := svc.Labels["app.kubernetes.io/name"] == of.name
		if !labelled && !of.named(svc.Name) || svc.Name == of.operated {
			continue
		}
		port, ok := portOf(svc, of)
		if !ok {
			continue
		}
		ref := svc.Namespace + "/" + svc.Name + ":" + strconv.Itoa(int(port.Port))
		if strings.Contains(port.Name, "https") || svc.Annotations[servingCert] != "" {
			ref = "https:" + ref
		}
		why := "its name and port"
		if labelled {
			why = "its label app.kubernetes.io/name and port"
		}
		out = append(out, found{ref: ref, why: why})
	}
	slices.SortFunc(out, func(a, b found) int { return strings.Compare(a.ref, b.ref) })
	return out
}

// portOf is the API's port: the usual number, one that is called web, or one that leads to the usual number.
func portOf(svc *corev1.Service, of monitor) (corev1.ServicePort, bool) {
	for _, name := range []func(corev1.ServicePort) bool{
		func(p corev1.ServicePort) bool { return p.Port == of.port },
		func(p corev1.ServicePort) bool { return p.Name == "web" || p.Name == "http-web" },
		func(p corev1.ServicePort) bool { return p.TargetPort.IntVal == of.port },
	} {
		if i := slices.IndexFunc(svc.Spec.Ports, name); i >= 0 {
			return svc.Spec.Ports[i], true
		}
	}
	return corev1.ServicePort{}, false
}

// endpoint writes the block of an API of monitoring; silent is why it did not answer.
func (s *Snapshot) endpoint(p *page, of monitor, silent string) {
	p.key(2, of.name)
	all := s.monitors(of)
	switch {
	case len(all) == 1 && silent != "":
		p.set(4, "service", todo(all[0].ref, "check that this is the API of %s, found by %s: %s", of.name, all[0].why, silent))
	case len(all) == 1:
		p.set(4, "service", seen(all[0].ref, "the one Service of %s, by %s", of.name, all[0].why))
	case len(all) == 0:
		why := s.Unread[unreadServices]
		if why == "" {
			why = "no Service of that name with port " + strconv.Itoa(int(of.port)) + " was seen"
		}
		p.set(4, "service", todo("", "namespace/name:port of %s, or a url instead of service; %s", of.name, why))
	default:
		var refs []string
		for _, f := range all {
			refs = append(refs, f.ref)
		}
		p.set(4, "service", todo("", "one of %s", strings.Join(refs, ", ")))
	}
}

// telemetry writes the block telemetry.
func (s *Snapshot) telemetry(p *page) {
	p.key(0, "telemetry")
	p.set(2, "scrapeInterval", s.scrapeInterval())
	p.set(2, "receiver", s.receiver())
	s.alert(p)
	p.set(2, "loadImage", byDefault("nvcr.io/nvidia/cloud-native/dcgm:4.4.2-1-ubuntu22.04", "NVIDIA's image with dcgmproftester; your nodes must be able to pull it"))
}

func (s *Snapshot) scrapeInterval() value {
	intervals := map[string]bool{}
	for _, t := range s.Targets {
		if t.IsDCGM() && t.ScrapeInterval != "" {
			intervals[t.ScrapeInterval] = true
		}
	}
	if len(intervals) == 1 {
		for interval := range intervals {
			return seen(interval, "targets of dcgm-exporter in Prometheus")
		}
	}
	why := "no Prometheus was asked"
	switch {
	case s.Unread[unreadTargets] != "":
		why = s.Unread[unreadTargets]
	case len(intervals) > 1:
		why = "targets of dcgm-exporter have different ones"
	case len(s.Targets) > 0:
		why = "no target of Prometheus is a dcgm-exporter"
	}
	return todo("15s", "the interval at which Prometheus scrapes dcgm-exporter; %s", why)
}

func (s *Snapshot) receiver() value {
	var notifying []string
	for _, r := range s.Receivers {
		if len(r.Integrations) > 0 {
			notifying = append(notifying, fmt.Sprintf("%s (%s)", r.Name, strings.Join(r.Integrations, ", ")))
		}
	}
	if len(notifying) == 1 {
		i := slices.IndexFunc(s.Receivers, func(r prom.Receiver) bool { return len(r.Integrations) > 0 })
		return seen(s.Receivers[i].Name, "the one receiver of Alertmanager that sends notifications (%s)", strings.Join(s.Receivers[i].Integrations, ", "))
	}
	why := "no Alertmanager was asked"
	switch {
	case s.Unread[unreadReceivers] != "":
		why = s.Unread[unreadReceivers]
	case len(notifying) > 1:
		why = "Alertmanager has " + strings.Join(notifying, ", ")
	case len(s.Receivers) > 0:
		why = "no receiver of Alertmanager sends notifications"
	}
	return todo("", "the receiver that a synthetic alert has to reach; %s", why)
}
