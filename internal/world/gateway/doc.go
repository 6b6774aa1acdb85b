// Package gateway implements the Gateway API in the world: a simulated gateway controller and data
// plane, because no real one can reach a lab's pods (docs/decisions/0011-the-worlds-gateway.md).
//
// It owns the status of GatewayClasses with controllerName ControllerName, of their Gateways, and
// its parents in the status of HTTPRoutes. Each Gateway has a reverse proxy on its own loopback
// address to pods of the world. The lab creates the class (lab/manifest/gateway).
//
// It supports HTTP listeners and HTTPRoutes with hosts, paths (exact and prefix), headers, query
// parameters, methods and weights. It reports unsupported features (filters, regular expressions,
// TLS, references to other namespaces) in the status as the specification requires, and never
// serves them partially.
//
// Reconciliation is level-triggered. Without a Gateway nothing listens and no request is sent.
package gateway
