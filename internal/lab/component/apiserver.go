package component

import (
	"strconv"
	"time"

	"github.com/firstlight/firstlight/internal/lab/pki"
)

// ServiceCIDR is the lab's Service range; it is not routed.
const ServiceCIDR = "10.96.0.0/16"

// gangGates enable native gang scheduling.
const gangGates = "GenericWorkload=true,GangScheduling=true"

// APIServer builds kube-apiserver.
func (c Config) APIServer() Component {
	p := c.PKI()
	argv := []string{
		"--bind-address=" + c.Address,
		"--advertise-address=" + c.Address,
		"--secure-port=" + strconv.Itoa(c.Ports.APIServer),
		// The API server rejects loopback addresses as endpoints of the Service kubernetes.
		"--endpoint-reconciler-type=none",
		"--service-cluster-ip-range=" + ServiceCIDR,
		"--allow-privileged=true",
		"--profiling=false",

		"--etcd-servers=" + etcdSocket,

		"--tls-cert-file=" + p.Cert(pki.APIServer),
		"--tls-private-key-file=" + p.Key(pki.APIServer),
		"--client-ca-file=" + p.Cert(pki.CA),
		"--anonymous-auth=false",
		"--authorization-mode=Node,RBAC",

		// InternalIP is the address of a KWOK node's pods. Its kubelet server is kwok's, at the
		// ExternalDNS address that the node stage sets.
		"--kubelet-preferred-address-types=ExternalDNS,InternalIP",
		"--kubelet-certificate-authority=" + p.Cert(pki.CA),
		"--kubelet-client-certificate=" + p.Cert(pki.KubeletClient),
		"--kubelet-client-key=" + p.Key(pki.KubeletClient),

		"--service-account-issuer=https://kubernetes.default.svc.cluster.local",
		"--service-account-key-file=" + p.Cert(pki.ServiceAccount),
		"--service-account-signing-key-file=" + p.Key(pki.ServiceAccount),

		"--requestheader-client-ca-file=" + p.Cert(pki.FrontProxyCA),
		"--requestheader-allowed-names=front-proxy-client",
		"--requestheader-extra-headers-prefix=X-Remote-Extra-",
		"--requestheader-group-headers=X-Remote-Group",
		"--requestheader-username-headers=X-Remote-User",
		"--proxy-client-cert-file=" + p.Cert(pki.FrontProxyClient),
		"--proxy-client-key-file=" + p.Key(pki.FrontProxyClient),
	}
	if !c.Faults.NoGangScheduler {
		argv = append(argv,
			"--feature-gates="+gangGates,
			"--runtime-config=scheduling.k8s.io/v1alpha2=true",
		)
	}
	return Component{
		Name: APIServer, Argv: argv, Env: collectLess(c.hostMemory(768, 1280)),
		Probe: c.probe(c.Ports.APIServer, "/readyz?exclude=poststarthook/rbac/bootstrap-roles"),
		Needs: []string{Etcd},
		// etcd has every write. An orderly stop would wait a second for HTTP/2 connections.
		StopGrace: 50 * time.Millisecond,
	}
}

// ServingProbe succeeds when the API server responds, also while it is not ready.
func (c Config) ServingProbe() Probe { return c.probe(c.Ports.APIServer, "/version") }

// RolesProbe succeeds when Roles exist.
func (c Config) RolesProbe() Probe { return c.probe(c.Ports.APIServer, "/readyz") }
