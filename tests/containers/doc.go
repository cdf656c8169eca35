// SPDX-License-Identifier: Apache-2.0

// Package containers tests the manifests of packaging/kubernetes and packaging/Dockerfile.
//
// The manifests are built by kustomize's own library, decoded strictly as the types of their APIs, and
// checked against the restricted level of the Pod Security Standards. Their pods then run on this
// machine without Kubernetes: each container has the root file system of the image, mounted read-only,
// with its volumes, its host name, its user and no capabilities, and the variables that Kubernetes would
// set. That needs root, for namespaces and mounts.
//
// It is a module of its own, so that the modules of Kubernetes do not become modules of gvw.
package containers
