package component

import (
	"path/filepath"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firstlight/firstlight/internal/lab/pki"
)

// The names of a lab's components.
const (
	Etcd              = "etcd"
	APIServer         = "kube-apiserver"
	ControllerManager = "kube-controller-manager"
	Scheduler         = "kube-scheduler"
	Kwok              = "kwok"
	Prometheus        = "prometheus"
	Alertmanager      = "alertmanager"
	Adapter           = "prometheus-adapter"

	// Those of extras.
	Karpenter     = "karpenter"
	KAIScheduler  = "kai-scheduler"
	KAIBinder     = "kai-binder"
	KAIPodGrouper = "kai-podgrouper"

	JobSet          = "jobset"
	KubeflowTrainer = "kubeflow-trainer"
	MPIOperator     = "mpi-operator"

	// PrometheusReplica is of a fault: a second Prometheus.
	PrometheusReplica = "prometheus-replica"
)

// Objects is no component: it stands in Needs for the API objects that a lab
// creates once its API server answers (definitions, roles, services).
const Objects = "api-objects"

// Component is one program, ready to be run.
type Component struct {
	Name string
	// Program is the upstream program that it runs; empty: the one of its name.
	Program string
	// Argv are the arguments, without the program.
	Argv []string
	// Env is what its environment has of its own, as NAME=value.
	Env []string
	// Files are configuration files to write before each start, by path.
	Files map[string]string
	// Copies are files that its program wants elsewhere: where, to what they are copies of.
	Copies map[string]string
	// Probe says when it is ready.
	Probe Probe
	// Needs are the components (or Objects) that must be ready before it starts.
	Needs []string
	// StopGrace is the time between SIGTERM and SIGKILL.
	StopGrace time.Duration
}

// Probe is a GET that answers 200 when the component serves.
type Probe struct {
	URL string
	// CA, Cert and Key are files: whom to trust, and what to show.
	CA, Cert, Key string
	// Contains must be in the answer's body, when set.
	Contains string
}

// Config is what all components are computed from.
type Config struct {
	// Dir is the lab's directory; PKI is below it.
	Dir string
	// Address is the lab's own loopback address; everything listens there.
	Address string
	Ports   Ports
	// Purpose is what the lab is for.
	Purpose Purpose
	// Tokens are what identities of package pki show the API server instead of their
	// certificates, where they have one.
	Tokens map[string]string
	// Profiling makes components serve profiles, where it can be chosen.
	Profiling bool
	// With are the extras that the lab has; see Extras.
	With []string
	// AlertWebhook is where Alertmanager sends; empty: nowhere.
	AlertWebhook string
	// PodNetwork is the HTTP proxy that leads to pods with addresses of their own.
	PodNetwork string
	// InstanceTypes is the file of what Karpenter can order; see package instances.
	InstanceTypes string
	Faults        Faults
}

// Ports are the lab's ports on its address.
type Ports struct {
	Etcd              int `json:"etcd"`
	EtcdPeer          int `json:"etcdPeer"`
	APIServer         int `json:"apiserver"`
	ControllerManager int `json:"controllerManager"`
	Scheduler         int `json:"scheduler"`
	Kwok              int `json:"kwok"`
	Prometheus        int `json:"prometheus"`
	Alertmanager      int `json:"alertmanager"`
	Adapter           int `json:"adapter"`
	AlertWebhook      int `json:"alertWebhook"`
	PodNetwork        int `json:"podNetwork"`

	// Those of PrometheusReplica, and of the address at which both Prometheus answer.
	PrometheusReplica int `json:"prometheusReplica,omitempty"`
	PrometheusShared  int `json:"prometheusShared,omitempty"`

	// EtcdHTTP is that of a lab for scheduling.
	EtcdHTTP int `json:"etcdHTTP,omitempty"`

	KarpenterHealth  int `json:"karpenterHealth,omitempty"`
	KarpenterMetrics int `json:"karpenterMetrics,omitempty"`
	KAIScheduler     int `json:"kaiScheduler,omitempty"`
	KAIBinder        int `json:"kaiBinder,omitempty"`
	KAIPodGrouper    int `json:"kaiPodGrouper,omitempty"`

	JobSetHealth   int `json:"jobsetHealth,omitempty"`
	JobSetWebhook  int `json:"jobsetWebhook,omitempty"`
	TrainerHealth  int `json:"trainerHealth,omitempty"`
	TrainerWebhook int `json:"trainerWebhook,omitempty"`
	// MPIOperator is MPIOperatorPort in a lab that has it.
	MPIOperator int `json:"mpiOperator,omitempty"`
}

// Faults are the settings of the control plane that a fault changes.
type Faults struct {
	// NoGangScheduler: neither the API nor the scheduler knows gangs.
	NoGangScheduler bool `json:"noGangScheduler,omitempty"`
	// HalfGang: the API has pod groups, the scheduler does not heed them.
	HalfGang bool `json:"halfGang,omitempty"`
	// AlertRouteMissing: Alertmanager's route ends in a receiver that tells nobody.
	AlertRouteMissing bool `json:"alertRouteMissing,omitempty"`
	// OnCallSilent: the webhook of the receiver on-call refuses
	// connections; a receiver watchdog is notified every second.
	OnCallSilent bool `json:"onCallSilent,omitempty"`
	// NodeLabelOff: Prometheus does not label its targets with their node.
	NodeLabelOff bool `json:"nodeLabelOff,omitempty"`
	// PrometheusReplicaStale: a second Prometheus, which scrapes nothing, answers in turns
	// with the lab's at an address of both.
	PrometheusReplicaStale bool `json:"prometheusReplicaStale,omitempty"`
	// AdapterDown: prometheus-adapter does not run.
	AdapterDown bool `json:"adapterDown,omitempty"`
	// AdapterRuleWrong: the adapter's power rules ask for a series that is not there.
	AdapterRuleWrong bool `json:"adapterRuleWrong,omitempty"`
	// APIServiceUnavailable: the metrics APIs lead to a port where nobody listens.
	APIServiceUnavailable bool `json:"apiServiceUnavailable,omitempty"`
	// HonorLabelsOff: Prometheus puts the scraped pod's labels before the exporter's own.
	HonorLabelsOff bool `json:"honorLabelsOff,omitempty"`
	// ServiceRuleWrong: the adapter's rules for inference servers ask for series that
	// no server has.
	ServiceRuleWrong bool `json:"serviceRuleWrong,omitempty"`
	// WebhookFailsOpen: Kubeflow Trainer's webhooks lead to a port where nobody listens,
	// and what could not be asked is admitted.
	WebhookFailsOpen bool `json:"webhookFailsOpen,omitempty"`
	// TrainerDown is how long Kubeflow Trainer stays ended when it has died; 0 is
	// healthy.
	TrainerDown metav1.Duration `json:"trainerDown,omitzero"`
}

// All returns every component of a lab, in the order in which they are listed:
// those that every lab has, then those of its extras.
func All(c Config) []Component {
	switch c.Purpose {
	case Scheduling:
		return c.forScheduling()
	case Store:
		return c.forStore()
	case Everything:
	}
	all := []Component{
		c.Etcd(), c.APIServer(), c.ControllerManager(), c.Scheduler(),
		c.Kwok(), c.Prometheus(), c.Alertmanager(),
	}
	for _, name := range c.With {
		all = append(all, c.Extra(name)...)
	}
	return all
}

// PKI is the directory of the lab's certificates.
func (c Config) PKI() pki.Dir { return pki.Dir(filepath.Join(c.Dir, "pki")) }

// Conf is the path of a configuration file.
func (c Config) Conf(name string) string { return filepath.Join(c.Dir, "conf", name) }

// Data is the path of a component's data.
func (c Config) Data(name string) string { return filepath.Join(c.Dir, "data", name) }

// Kubeconfig is the path of an identity's kubeconfig.
func (c Config) Kubeconfig(identity string) string {
	return filepath.Join(c.Dir, "kubeconfig", identity+".yaml")
}

// AdminKubeconfig is the path of the kubeconfig meant for people.
func (c Config) AdminKubeconfig() string { return filepath.Join(c.Dir, "kubeconfig.yaml") }

// probe is a probe of the component at this port, with the administrator's certificate.
func (c Config) probe(port int, path string) Probe {
	p := c.PKI()
	return Probe{URL: c.url(port) + path, CA: p.Cert(pki.CA), Cert: p.Cert(pki.Admin), Key: p.Key(pki.Admin)}
}

// plainProbe is a probe of a component that serves without certificates.
func (c Config) plainProbe(port int, path string) Probe {
	p := c.probe(port, path)
	p.URL = "http://" + c.hostPort(port) + path
	return p
}
