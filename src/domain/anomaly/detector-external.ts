/** Whatever an Alertmanager sends; its family is reported as `alertmanager` where rules ask for a source. */
export const DETECTOR_EXTERNAL = "external";
