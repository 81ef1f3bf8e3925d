export { toolTrust } from './tool-trust.ts';
