module railhead/tests/conformance

go 1.24.0

require (
	github.com/containerd/nri v0.12.5
	github.com/containerd/ttrpc v1.2.7
	google.golang.org/protobuf v1.34.1
	railhead/tests/bench/peers v0.0.0
)

require (
	github.com/containerd/log v0.1.0 // indirect
	github.com/gogo/protobuf v1.3.2 // indirect
	github.com/opencontainers/runtime-spec v1.3.0 // indirect
	github.com/sirupsen/logrus v1.9.4 // indirect
	golang.org/x/net v0.25.0 // indirect
	golang.org/x/sys v0.39.0 // indirect
	golang.org/x/text v0.15.0 // indirect
	google.golang.org/genproto/googleapis/rpc v0.0.0-20240528184218-531527333157 // indirect
	google.golang.org/grpc v1.65.1 // indirect
	k8s.io/cri-api v0.25.3 // indirect
)

replace railhead/tests/bench/peers => ../bench/peers

// What containerd 1.7.26 to 2.1 is built with.
replace (
	github.com/containerd/nri => github.com/containerd/nri v0.8.0
	github.com/opencontainers/runtime-spec => github.com/opencontainers/runtime-spec v1.0.3-0.20220825212826-86290f6a00fb
)
