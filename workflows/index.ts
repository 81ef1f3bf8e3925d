export { approval } from './approval.ts';
export { toolTrust } from './tool-trust.ts';
export { webhookDelivery } from './webhook-delivery.ts';
