package check

import (
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The types in this file are those of projects whose modules depend on hundreds of others, such as controller-runtime and clients of clouds.
// They have the fields that the objects use, and no others.

// inferencePool is an InferencePool of the Gateway API Inference Extension, version 1.
type inferencePool struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Spec              struct {
		Selector struct {
			MatchLabels map[string]string `json:"matchLabels"`
		} `json:"selector"`
		TargetPorts       []poolPort `json:"targetPorts"`
		EndpointPickerRef struct {
			Kind        string   `json:"kind"`
			Name        string   `json:"name"`
			Port        poolPort `json:"port"` // required for a Service
			FailureMode string   `json:"failureMode"`
		} `json:"endpointPickerRef"`
	} `json:"spec"`
}

// poolPort is a port of an inferencePool.
type poolPort struct {
	Number int32 `json:"number"`
}

// servingRuntime is a ServingRuntime of KServe, version 1alpha1.
type servingRuntime struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Spec              struct {
		Annotations           map[string]string `json:"annotations"`
		SupportedModelFormats []struct {
			Name       string  `json:"name"`
			Version    *string `json:"version"`
			AutoSelect *bool   `json:"autoSelect"`
			Priority   *int32  `json:"priority"`
		} `json:"supportedModelFormats"`
		ProtocolVersions []string           `json:"protocolVersions"`
		Containers       []corev1.Container `json:"containers"`
		Volumes          []corev1.Volume    `json:"volumes"`
	} `json:"spec"`
}

// jobSet is a JobSet, version 1alpha2.
type jobSet struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Spec              struct {
		FailurePolicy struct {
			MaxRestarts int32 `json:"maxRestarts"`
		} `json:"failurePolicy"`
		ReplicatedJobs []struct {
			Name     string                  `json:"name"`
			Replicas int32                   `json:"replicas"`
			Template batchv1.JobTemplateSpec `json:"template"`
		} `json:"replicatedJobs"`
	} `json:"spec"`
}
