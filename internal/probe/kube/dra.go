package kube

import (
	resourceclient "k8s.io/client-go/kubernetes/typed/resource/v1"
	draclient "k8s.io/dynamic-resource-allocation/client"
)

// DRA is the client of resource.k8s.io, in the first version of v1, v1beta2 and v1beta1 that the API
// server serves. It takes and returns objects of v1.
func (c *Cluster) DRA() resourceclient.ResourceV1Interface { return draclient.New(c.Client) }
